import { PipelineLog } from '@connector-frame/engine';
import { Hono } from 'hono';
import { expect, it, vi, onTestFinished } from 'vitest';
import { eventStream, type ServerEvent } from './event-stream.js';

const log = new PipelineLog(() => 0);
async function* entries(signal: AbortSignal): AsyncGenerator<ServerEvent, void, void> {
  for await (const entry of log.tail(signal))
    yield { id: String(entry.sequence), event: 'entry', data: JSON.stringify({ text: entry.message }) };
}
const open = async (signal: AbortSignal, ended?: () => void): Promise<Response> =>
  new Hono().get('/', (c) => eventStream(c, entries, signal, ended)).request('/');
const decoder = new TextDecoder();
const text = async (reader: ReadableStreamDefaultReader<Uint8Array>) => decoder.decode((await reader.read()).value);

it('sends each event immediately, and a comment after 15 seconds without events', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const over = new AbortController();
  const response = await open(over.signal);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const reader = response.body?.getReader();
  if (!reader) throw new Error('no body');
  expect(await text(reader)).toMatch(/^:.*\n\n$/);
  log.add({ level: 'info', code: 'c', message: 'two\nlines' });
  expect(await text(reader)).toBe('event: entry\ndata: {"text":"two\\nlines"}\nid: 1\n\n');
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await text(reader)).toBe(':\n\n');
  over.abort();
  expect((await reader.read()).done).toBe(true);
  expect([log.followers, vi.getTimerCount()]).toEqual([0, 0]);
});

it.each([
  ['releases all resources when the client disconnects', 0],
  ['releases all resources when the client disconnects with unread events', 20],
])('%s', async (_name, more) => {
  for (let n = 0; n < more; n += 1) log.add({ level: 'info', code: 'c', message: String(n) });
  const ended = vi.fn();
  const reader = (await open(new AbortController().signal, ended)).body?.getReader();
  await reader?.read();
  await expect.poll(() => log.followers).toBe(1);
  await reader?.cancel();
  await expect.poll(() => log.followers).toBe(0);
  expect(ended).toHaveBeenCalledOnce();
});

it('releases all resources when it is aborted while no client reads', async () => {
  const over = new AbortController();
  const ended = vi.fn();
  const response = await open(over.signal, ended);
  await expect.poll(() => log.followers).toBe(1);
  over.abort();
  await expect.poll(() => log.followers).toBe(0);
  expect(ended).toHaveBeenCalledOnce();
  await response.body?.cancel();
});

it('does not read ahead of a client that reads slowly', async () => {
  let sent = 0;
  async function* numbers(): AsyncGenerator<ServerEvent, void, void> {
    for (;;) yield { id: String((sent += 1)), event: 'number', data: String(sent) };
  }
  const app = new Hono().get('/', (c) => eventStream(c, numbers, new AbortController().signal));
  const reader = (await app.request('/')).body?.getReader();
  if (!reader) throw new Error('no body');
  for (let n = 0; n < 10; n += 1) await reader.read();
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toBeLessThan(20);
  await reader.cancel();
});

async function* failing(): AsyncGenerator<ServerEvent, void, void> {
  yield { id: '1', event: 'number', data: '1' };
  throw new Error('select $1 -- secret');
}

it('ends when the events fail, without exposing the error to the client or the console', async () => {
  const printed = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => printed.mockRestore());
  const ended = vi.fn();
  const app = new Hono().get('/', (c) => eventStream(c, failing, new AbortController().signal, ended));
  expect(await (await app.request('/')).text()).toBe(': here\n\nevent: number\ndata: 1\nid: 1\n\n');
  expect(ended).toHaveBeenCalledOnce();
  expect(printed).not.toHaveBeenCalled();
});
