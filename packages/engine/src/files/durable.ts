import { open, rename, type FileHandle } from 'node:fs/promises';

/** Writes all bytes at `position`; a single `write` call may write fewer. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/**
 * Syncs a folder. A new or renamed file survives a power failure only once its folder is synced.
 */
export async function syncFolder(folder: string): Promise<void> {
  // Windows has no such call, and its file system writes directories through.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces a file atomically: after a crash, either the old or the new content is complete. */
export async function replaceFile(path: string, bytes: string | Uint8Array): Promise<void> {
  const temporary = `${path}.new`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
}
