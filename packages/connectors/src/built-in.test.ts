import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Batch, createBatch, type Page } from '@connector-frame/engine/connector-api';
import { ManualClock } from '@connector-frame/engine/testing';
import { auditEvent } from './synthetic/audit-event.js';
import { createFileOutput } from './file/file-output.js';
import { createSyntheticInput } from './synthetic/synthetic-input.js';

const never = new AbortController().signal;

/** Returns the pages that an input yields while the clock advances for `ms` milliseconds. */
async function pagesFor(ms: number, clock: ManualClock, rate: number): Promise<Page[]> {
  const stop = new AbortController();
  const pages: Page[] = [];
  const reading = (async () => {
    for await (const page of createSyntheticInput({ rate, clock }).pages(undefined, stop.signal)) pages.push(page);
  })();
  for (let passed = 0; passed < ms; passed += 10) {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    clock.advance(10);
  }
  stop.abort();
  await reading;
  return pages;
}

test.each([
  [1, 10_000, 10],
  [50, 4_000, 200],
  [2_000, 2_000, 4_000],
  [40_000, 1_000, 40_000],
])('%d a second for %d ms: about %d records', async (rate, ms, expected) => {
  const pages = await pagesFor(ms, new ManualClock(), rate);
  const count = pages.reduce((sum, page) => sum + page.records.length, 0);
  expect(Math.abs(count - expected)).toBeLessThanOrEqual(Math.max(1, expected * 0.12));
  expect(Math.max(...pages.map((page) => page.records.length))).toBeLessThanOrEqual(1_000);
});

test('a page that is read again is the same, whenever that is', async () => {
  const clock = new ManualClock();
  const input = createSyntheticInput({ rate: 1_000, total: 350, clock });
  const read = async (from: Page['cursor'] | undefined): Promise<Page[]> => {
    const pages: Page[] = [];
    const reading = (async () => {
      for await (const page of input.pages(from, never)) pages.push(page);
    })();
    const over = setInterval(() => clock.advance(50), 1);
    await reading;
    clearInterval(over);
    return pages;
  };
  const all = await read(undefined);
  expect(all.map((page) => page.records.length)).toEqual([100, 100, 100, 50]);
  clock.advance(86_400_000);
  const again = await read(all[0]?.cursor);
  expect(again[0]?.records).toEqual(all[1]?.records);
  expect(await read(all.at(-1)?.cursor)).toEqual([]);
});

test('an audit event reads like one, and is marked as made up', () => {
  const events = Array.from({ length: 500 }, (_, n) => auditEvent(n, Date.UTC(2026, 0, 1)));
  expect(new Set(events.map((event) => event['id'])).size).toBe(500);
  for (const event of events) {
    expect(event).toMatchObject({ synthetic: true, event_type: expect.stringMatching(/^\w+\./) });
    expect(event['published']).toMatch(/^2026-01-01T00:00:00\.\d{3}Z$/);
    // Only reserved documentation addresses.
    expect(JSON.stringify(event)).toMatch(/@example\.com.*198\.51\.100\./);
  }
  expect(auditEvent(7, 0)).toEqual(auditEvent(7, 0));
});

async function someFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'file-output-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
const numberedBatch = (n: number): Batch => createBatch(String(n), [JSON.stringify({ n, text: 'x'.repeat(80) })]);

test('a file output rotates by size, keeps the order, and the latest so many', async () => {
  const folder = await someFolder();
  const path = join(folder, 'events.ndjson');
  const all = createFileOutput({ path, maxBytes: 250 });
  for (let n = 0; n < 7; n += 1) expect(await all.write(numberedBatch(n), never)).toEqual({});
  const names = (await readdir(folder)).sort();
  expect(names).toEqual(['events.000001.ndjson', 'events.000002.ndjson', 'events.000003.ndjson', 'events.ndjson']);
  const text = (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => Number(/"n":(\d+)/.exec(line)?.[1])),
  ).toEqual([0, 1, 2, 3, 4, 5, 6]);
  // Another process continues with the same files.
  const few = createFileOutput({ path, maxBytes: 250, keepFiles: 2 });
  for (let n = 7; n < 10; n += 1) await few.write(numberedBatch(n), never);
  expect((await readdir(folder)).sort()).toEqual(['events.000003.ndjson', 'events.000004.ndjson', 'events.ndjson']);
});

test('a file output that can not write fails without telling the path', async () => {
  const folder = await someFolder();
  await writeFile(join(folder, 'file'), '');
  const output = createFileOutput({ path: join(folder, 'file', 'events.ndjson') });
  await expect(output.write(numberedBatch(1), never)).rejects.toMatchObject({
    name: 'ConnectorError',
    kind: 'retry',
    message: expect.stringMatching(/^The file could not be written \(E[A-Z]+\)\.$/),
  });
});
