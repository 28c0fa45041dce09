import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Threads of Node.js that write files, unless `UV_THREADPOOL_SIZE` is set. */
const THREADS = 4;
const WRITES = 500;

/** Returns how many small writes to different files this disk forces to its storage in a second. */
export async function syncRate() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sync-'));
  try {
    const files = await Promise.all(
      Array.from({ length: THREADS }, (_, number) => open(join(folder, `${number}`), 'a')),
    );
    const content = Buffer.alloc(1_024, 'x');
    const started = performance.now();
    await Promise.all(
      files.map(async (file) => {
        for (let write = 0; write < WRITES; write += 1) {
          await file.write(content);
          await file.datasync();
        }
      }),
    );
    const seconds = (performance.now() - started) / 1_000;
    await Promise.all(files.map((file) => file.close()));
    return (THREADS * WRITES) / seconds;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
