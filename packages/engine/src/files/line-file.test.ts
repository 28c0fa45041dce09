import { mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LineFile } from './line-file.js';

async function somePath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lines-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'deep', 'file');
}

test('appends lines in order, also from concurrent calls and after reopening', async () => {
  const path = await somePath();
  const file = new LineFile(path, 1_000, () => Promise.resolve());
  await Promise.all([file.append(['a', 'b']), file.append([]), file.append(['ü'])]);
  await new LineFile(path, 1_000, () => Promise.resolve()).append(['d']);
  expect(await readFile(path, 'utf8')).toBe('a\nb\nü\nd\n');
});

test('truncates a partial last line before the next write', async () => {
  const path = await somePath();
  await new LineFile(path, 1e6, () => Promise.resolve()).append(['whole', 'x'.repeat(100_000)]);
  for (const [left, rest] of [
    [50_000, 'whole\n'],
    [7, 'whole\n'],
    [3, ''],
  ] as const) {
    await truncate(path, left);
    await new LineFile(path, 1e6, () => Promise.resolve()).append(['next']);
    expect(await readFile(path, 'utf8')).toBe(`${rest}next\n`);
    await writeFile(path, `whole\n${'x'.repeat(100_000)}`);
  }
});

test('limits the file size, except for a single longer line', async () => {
  const path = await somePath();
  let archived = 0;
  const file = new LineFile(path, 20, async (full) => {
    archived += 1;
    await rename(full, `${full}.${archived}`);
  });
  const lines = ['1234567', '1234567', '1234567', 'x'.repeat(50), 'end'];
  await file.append(lines);
  expect(await readdir(join(path, '..'))).toEqual(['file', 'file.1', 'file.2', 'file.3']);
  const texts = await Promise.all(['.1', '.2', '.3', ''].map((suffix) => readFile(path + suffix, 'utf8')));
  expect(texts.join('')).toBe(lines.map((line) => `${line}\n`).join(''));
  expect(texts.map((text) => text.length)).toEqual([16, 8, 51, 4]);
});
