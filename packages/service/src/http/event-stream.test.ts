import { PipelineLog } from '@connector-frame/engine';
import { expect, it, vi, onTestFinished } from 'vitest';
import { eventStream, type ServerEvent } from './event-stream.js';

const log = new PipelineLog(() => 0);
async function* entries(signal: AbortSignal): AsyncGenerator<ServerEvent, void, void> {
  for await (const entry of log.tail(signal))
    yield { id: String(entry.sequence), event: 'entry', data: { text: entry.message } };
}
const decoder = new TextDecoder();
const text = async (reader: ReadableStreamDefaultReader<Uint8Array>) => decoder.decode((await reader.read()).value);

it('sends events as they come, and a comment when there are none', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const over = new AbortController();
  const response = eventStream(entries, over.signal);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const reader = response.body?.getReader();
  if (!reader) throw new Error('no body');
  expect(await text(reader)).toMatch(/^:.*\n\n$/);
  log.add({ level: 'info', code: 'c', message: 'two\nlines' });
  expect(await text(reader)).toBe('id: 1\nevent: entry\ndata: {"text":"two\\nlines"}\n\n');
  vi.advanceTimersByTime(15_000);
  expect(await text(reader)).toBe(':\n\n');
  over.abort();
  expect((await reader.read()).done).toBe(true);
  expect([log.followers, vi.getTimerCount()]).toEqual([0, 0]);
});

it.each([
  ['lets go of everything when the client leaves', 0],
  ['lets go of everything also when the client leaves while there is more than it reads', 20],
])('%s', async (_name, more) => {
  for (let n = 0; n < more; n += 1) log.add({ level: 'info', code: 'c', message: String(n) });
  const ended = vi.fn();
  const reader = eventStream(entries, new AbortController().signal, ended).body?.getReader();
  await reader?.read();
  await expect.poll(() => log.followers).toBe(1);
  await reader?.cancel();
  await expect.poll(() => log.followers).toBe(0);
  expect(ended).toHaveBeenCalledOnce();
});

it('releases everything when it is aborted while no client reads', async () => {
  const over = new AbortController();
  const ended = vi.fn();
  const response = eventStream(entries, over.signal, ended);
  await expect.poll(() => log.followers).toBe(1);
  over.abort();
  await expect.poll(() => log.followers).toBe(0);
  expect(ended).toHaveBeenCalledOnce();
  await response.body?.cancel();
});
