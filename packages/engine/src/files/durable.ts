import { open, rename, type FileHandle } from 'node:fs/promises';

/** Writes all of it at a place: one call may write less than it was given. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** A new or renamed file is only there after a loss of power once its folder was written too. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows has no such call, and its file system writes folders through.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts a file in the place of another one so that a crash leaves the one or the other, whole. */
export async function replaceFile(path: string, bytes: string | Uint8Array): Promise<void> {
  const beside = `${path}.new`;
  const handle = await open(beside, 'w', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(beside, path);
}
