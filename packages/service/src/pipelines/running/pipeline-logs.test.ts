import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { PipelineLog } from '@connector-frame/engine';
import { PipelineLogs, type PipelineLogsOptions } from './pipeline-logs.js';

const FILE = 'pipeline-logs.ndjson';

async function someFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'logs-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const open = (folder: string, options: Partial<PipelineLogsOptions> = {}): Promise<PipelineLogs> =>
  PipelineLogs.open({ folder, now: () => 1_000, epoch: 1, onFailure: () => expect.unreachable(), ...options });
const add = (log: PipelineLog, ...messages: string[]): void => {
  for (const message of messages) log.add({ level: 'info', code: 'c', message });
};
const messagesOf = (log: PipelineLog): string[] => log.entries().map(({ message }) => message);

it('continues the logs of earlier processes with higher sequence numbers, also after the clock went back', async () => {
  const folder = await someFolder();
  const first = await open(folder, { now: () => 3_600_000 });
  add(first.of('p'), 'one', 'two');
  first.of('q').add({ level: 'error', code: 'failed', message: 'three', nodeId: 'out' });
  await first.close();
  const before = [...first.of('p').entries()];

  const second = await open(folder, { now: () => 0, epoch: 2 });
  expect(second.of('p').entries()).toEqual(before);
  expect(second.of('q').entries()).toEqual(first.of('q').entries());
  add(second.of('p'), 'four');
  const [, last, next] = second.of('p').entries();
  expect(next?.sequence).toBeGreaterThan(last?.sequence ?? 0);
  // A client that saw an entry which a kill has lost does not miss the next one.
  expect(next?.sequence).toBeGreaterThan((last?.sequence ?? 0) + 1_000_000);
  // Sequence numbers of releases that began with the time in milliseconds are lower.
  expect(before[0]?.sequence).toBeGreaterThan(Date.now());
  await second.close();

  // A restored database restarts the epochs; the file still has the last sequence number.
  const restored = await open(folder, { epoch: 1 });
  add(restored.of('p'), 'five');
  expect(restored.of('p').entries().at(-1)?.sequence).toBeGreaterThan(next?.sequence ?? 0);
  await restored.close();
});

it('skips damaged lines and a torn last line, and keeps everything around them', async () => {
  const folder = await someFolder();
  const first = await open(folder);
  add(first.of('p'), 'one');
  await first.close();
  await appendFile(join(folder, FILE), '\u0000\u0000\n{"pipeline":"p","sequence":"x"}\nnull\n{"pipeline":"p","seq');
  const second = await open(folder, { epoch: 2 });
  add(second.of('p'), 'two');
  await second.close();
  expect(messagesOf((await open(folder)).of('p'))).toEqual(['one', 'two']);
});

it('writes the entries of ten thousand pipelines to one file, and nothing while there are none', async () => {
  const folder = await someFolder();
  const logs = await open(folder);
  for (let n = 0; n < 10_000; n += 1) add(logs.of(`p${n}`), 'started');
  await expect.poll(() => readFile(join(folder, FILE), 'utf8').catch(() => '')).toContain('"p9999"');
  expect(await readdir(folder)).toEqual([FILE]);
  const { mtimeMs, size, mode } = await stat(join(folder, FILE));
  expect(mode & 0o777).toBe(0o600);
  for (let n = 0; n < 10_000; n += 1) logs.of(`p${n}`).entries();
  await logs.close();
  expect(await stat(join(folder, FILE))).toMatchObject({ mtimeMs, size });
});

it('keeps 200 entries of a pipeline and 50,000 of all, those of quiet pipelines longest', async () => {
  const folder = await someFolder();
  const logs = await open(folder);
  add(logs.of('quiet'), 'once');
  for (let n = 0; n < 1_000; n += 1)
    add(logs.of(`noisy${n}`), ...Array.from({ length: 100 }, (_, i) => `${i} ${'x'.repeat(100)}`));
  await logs.close();
  expect(messagesOf(logs.of('quiet'))).toEqual(['once']);
  const again = await open(folder);
  add(again.of('quiet'), 'twice');
  await again.close();
  const sizes = Array.from({ length: 1_000 }, (_, n) => again.of(`noisy${n}`).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(50_000);
  expect(Math.min(...sizes)).toBeGreaterThan(40);
  expect(messagesOf(again.of('quiet'))).toEqual(['once', 'twice']);
  expect(messagesOf(again.of('noisy7')).at(-1)).toMatch(/^99 /);
  const only = await open(await someFolder());
  add(only.of('p'), ...Array.from({ length: 500 }, (_, n) => `${n}`));
  expect([only.of('p').size, messagesOf(only.of('p'))[0]]).toEqual([200, '300']);
  await only.close();
});

it('compacts the file of a pipeline that logs without end', async () => {
  const folder = await someFolder();
  const logs = await open(folder);
  for (let round = 0; round < 8; round += 1) {
    add(logs.of('p'), ...Array.from({ length: 200 }, (_, n) => `${round}.${n} ${'x'.repeat(2_000)}`));
    await expect.poll(() => readFile(join(folder, FILE), 'utf8').catch(() => '')).toContain(`${round}.199`);
  }
  await logs.close();
  // A message is stored with at most 1,000 characters.
  expect((await stat(join(folder, FILE))).size).toBeLessThan(1.5 * 1024 * 1024);
  expect(messagesOf((await open(folder)).of('p')).at(-1)).toMatch(/^7\.199 /);
});

it('forgets removed pipelines', async () => {
  const folder = await someFolder();
  const logs = await open(folder);
  for (const id of ['a', 'b', 'c']) add(logs.of(id), id);
  logs.remove('a');
  await logs.close();
  const again = await open(folder);
  expect(['a', 'b', 'c'].map((id) => again.of(id).size)).toEqual([0, 1, 1]);
  again.retain((id) => id === 'c');
  await again.close();
  const last = await open(folder);
  expect(['a', 'b', 'c'].map((id) => last.of(id).size)).toEqual([0, 0, 1]);
});

it('keeps entries in memory while the file cannot be written, and writes them afterwards', async () => {
  const folder = await someFolder();
  let failures = 0;
  const logs = await open(folder, { onFailure: () => (failures += 1) });
  await mkdir(join(folder, FILE));
  add(logs.of('p'), 'one');
  await expect.poll(() => failures).toBe(1);
  add(logs.of('p'), 'two');
  await rmdir(join(folder, FILE));
  await logs.close();
  expect(messagesOf((await open(folder)).of('p'))).toEqual(['one', 'two']);
  expect(failures).toBe(1);
});

it('ends the stream of a slow reader before a gap, and resumes it', async () => {
  const logs = await open(await someFolder());
  const numbers = Array.from({ length: 1_500 }, (_, n) => `${n}`);
  const read: string[] = [];
  let after: number | undefined;
  for (let connection = 0; connection < 2; connection += 1) {
    const over = new AbortController();
    const stream = logs.follow({ organizationId: 'o' }, over.signal, after === undefined ? {} : { after });
    const entries = stream[Symbol.asyncIterator]();
    const first = entries.next();
    // All at once, so that the reader can't keep up.
    if (connection === 0) add(logs.ofApi('o'), ...numbers);
    for (let next = await first; !next.done; next = await entries.next()) {
      read.push(next.value.message);
      after = next.value.sequence;
      if (read.length === numbers.length) over.abort();
    }
    expect(logs.followers).toBe(0);
    if (connection === 0) expect(read.length).toBeLessThan(numbers.length);
  }
  expect(read).toEqual(numbers);
  await logs.close();
});

it('keeps requests for seven days, and streams the removal of a pipeline as an end', async () => {
  const folder = await someFolder();
  const first = await open(folder, { now: () => 0 });
  add(first.ofApi('o'), 'old');
  add(first.of('p', 'o'), 'one');
  await first.close();
  const week = 7 * 86_400_000;
  const second = await open(folder, { now: () => week, epoch: 2 });
  expect([second.ofApi('o').size, second.of('p').size]).toEqual([0, 1]);
  const read: string[] = [];
  for await (const { message, pipelineId } of second.follow(
    { organizationId: 'o', pipelineId: 'p' },
    new AbortController().signal,
  )) {
    read.push(`${pipelineId} ${message}`);
    second.remove('p');
  }
  expect(read).toEqual(['p one']);
  await second.close();
});
