import { describe, expect, it } from 'vitest';
import { NoResponse, withRetry } from './retry.js';

type Reply = number | 'none' | { status: number; retryAfter: string };

/**
 * Runs `withRetry` against these responses. The fake clock advances with each wait, and by `takes`
 * milliseconds per attempt.
 */
async function run(replies: readonly Reply[], { random = 1, online = true, takes = 0 } = {}) {
  let now = 0;
  const waits: number[] = [];
  let tries = 0;
  const attempt = async (): Promise<Response> => {
    const reply = replies[tries] ?? 200;
    tries += 1;
    now += takes;
    if (reply === 'none') throw new TypeError('Failed to fetch');
    if (typeof reply === 'number') return new Response(null, { status: reply });
    return new Response(null, { status: reply.status, headers: { 'retry-after': reply.retryAfter } });
  };
  const sleep = async (ms: number): Promise<void> => {
    waits.push(ms);
    now += ms;
  };
  const tools = { now: () => now, random: () => random, sleep, online: () => online };
  const result = await withRetry(attempt, tools).then(
    ({ status }) => status,
    (error: unknown) => (error instanceof NoResponse ? `no response, offline: ${error.offline}` : 'error'),
  );
  return { result, waits, tries };
}

describe('withRetry (R06)', () => {
  it.each([429, 502, 503, 504, 'none'] as const)('retries after %s with increasing waits', async (reply) => {
    expect(await run([reply, reply, reply])).toEqual({ result: 200, waits: [300, 600, 1200], tries: 4 });
  });

  it.each([400, 401, 403, 404, 409, 412, 422, 500])('does not retry after %i', async (status) => {
    expect(await run([status])).toEqual({ result: status, waits: [], tries: 1 });
  });

  it('gives up after four attempts', async () => {
    expect(await run([503, 503, 503, 503, 200])).toMatchObject({ result: 503, tries: 4 });
    expect(await run(['none', 'none', 'none', 'none'])).toMatchObject({
      result: 'no response, offline: false',
      tries: 4,
    });
  });

  it('waits a random fraction of the limit', async () => {
    expect((await run([503, 503], { random: 0.25 })).waits).toEqual([75, 150]);
  });

  it('honors Retry-After in seconds and as a date', async () => {
    expect((await run([{ status: 429, retryAfter: '7' }])).waits).toEqual([7000]);
    const soon = new Date(Date.now() + 5_000).toUTCString();
    const [wait = 0] = (await run([{ status: 503, retryAfter: soon }])).waits;
    expect(wait).toBeGreaterThan(3_000);
    expect(wait).toBeLessThanOrEqual(5_000);
  });

  it('takes at most 30 seconds in total', async () => {
    expect(await run([{ status: 429, retryAfter: '60' }])).toEqual({ result: 429, waits: [], tries: 1 });
    expect(await run([503, 503, 503], { takes: 12_000 })).toMatchObject({ result: 503, tries: 3 });
  });

  it('does not retry while offline', async () => {
    expect(await run(['none'], { online: false })).toEqual({
      result: 'no response, offline: true',
      waits: [],
      tries: 1,
    });
  });

  it('aborts an attempt that does not respond', async () => {
    const signals: AbortSignal[] = [];
    const attempt = (signal: AbortSignal): Promise<Response> =>
      new Promise((_, reject) => {
        signals.push(signal);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const tools = { now: () => performance.now(), random: () => 0, sleep: async () => undefined, online: () => true };
    await expect(withRetry(attempt, tools, 5)).rejects.toBeInstanceOf(NoResponse);
    expect(signals).toHaveLength(4);
  });
});
