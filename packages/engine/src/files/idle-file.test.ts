import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileHandlePool, IdleFile } from './idle-file.js';

async function somePath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'idle-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'file');
}

test('closes an unused file and reopens it on use', async () => {
  const path = await somePath();
  await writeFile(path, 'ab');
  const files = new FileHandlePool();
  let closed = 0;
  const file = new IdleFile(path, 'r+', files, () => (closed += 1));
  expect(files.size).toBe(0);
  await file.use((handle) => handle.write('c', 0));
  await files.closeIdle();
  expect([files.size, closed]).toEqual([1, 0]);
  await files.closeIdle();
  expect([files.size, closed]).toEqual([0, 1]);
  await file.use((handle) => handle.write('d', 1));
  expect(await readFile(path, 'utf8')).toBe('cd');
  await file.close();
  expect([files.size, closed]).toEqual([0, 1]);
});

test('keeps a file in use open', async () => {
  const path = await somePath();
  await writeFile(path, 'ab');
  const files = new FileHandlePool();
  const file = new IdleFile(path, 'r', files);
  await file.use(async (handle) => {
    for (let n = 0; n < 3; n += 1) await files.closeIdle();
    expect((await handle.read(Buffer.alloc(2), 0, 2, 0)).bytesRead).toBe(2);
  });
  await file.close();
});

test('retries after a failed open', async () => {
  const path = await somePath();
  const files = new FileHandlePool();
  const file = new IdleFile(path, 'r', files);
  await expect(file.use(() => Promise.resolve())).rejects.toThrow('ENOENT');
  expect(files.size).toBe(0);
  await writeFile(path, 'x');
  await file.use(async (handle) => expect((await handle.stat()).size).toBe(1));
  await file.close();
});

test('limits the open files and keeps all of them usable', async () => {
  const path = await somePath();
  const files = new FileHandlePool(5);
  const many = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      await writeFile(`${path}.${n}`, `${n}`);
      return new IdleFile(`${path}.${n}`, 'r', files);
    }),
  );
  for (let round = 0; round < 2; round += 1)
    for (const [n, file] of many.entries()) {
      expect(await file.use((handle) => handle.readFile('utf8').then((text) => text || `${n}`))).toBe(`${n}`);
      expect(files.size).toBeLessThanOrEqual(5);
    }
  // The limit is exceeded if more files are in use at once.
  let together = 0;
  const all = new Promise<void>((resolve) => {
    for (const file of many)
      void file.use(async () => {
        together += 1;
        if (together === many.length) resolve();
        await all;
      });
  });
  await all;
  for (const file of many) await file.close();
  expect(files.size).toBe(0);
});
