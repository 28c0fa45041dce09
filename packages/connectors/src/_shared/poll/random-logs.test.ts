import { describe, expect, test } from 'vitest';
import type { PollStream } from '@connector-frame/catalog';
import { seededRandom } from '@connector-frame/engine/testing';
import { open, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';
import { longOr } from '../../../../../test/support/long.js';
import type { Reply } from '../../../../../test/support/vendor.js';

const DAY = 86_400_000;
/** Records appear up to this many milliseconds after their time, which is less than the overlap. */
const LATE = 50_000;
const SEEDS = longOr(40, 3);

interface Event {
  id: string;
  n: number;
  at: number;
}

const time = { kind: 'time', overlap_seconds: 60, seen: 100 } as const;
const bounded = { since: '{{since}}', until: '{{until}}' };
const offset = { kind: 'offset', parameter: 'skip' } as const;
const page = { kind: 'page', parameter: 'page', first: 1, total: '/total' } as const;
const token = { kind: 'body_cursor', path: '/next', parameter: 'token' } as const;
const byTime = { path: '/data', id: '/id', time: '/at', time_form: 'milliseconds' } as const;
const byId = { path: '/data', id: '/n' } as const;

const streams: Record<string, Partial<PollStream>> = {
  'ascending, by token': { cursor: { ...time, order: 'ascending' }, pagination: token },
  'ascending, by offset': { cursor: time, pagination: offset },
  'windows, by page': { cursor: time, pagination: page, query: bounded },
  'windows of ten minutes': { cursor: { ...time, longest_seconds: 600 }, pagination: token, query: bounded },
  'windows, read again': { cursor: { ...time, resume: 'again' }, pagination: token, query: bounded },
  'descending, without a time': { cursor: { ...time, order: 'descending' }, pagination: offset, query: {} },
  'in any order, without a time': { cursor: { ...time, order: 'any' }, pagination: offset, query: {} },
  'ids, descending': { cursor: { kind: 'id', order: 'descending' }, pagination: offset, query: {}, records: byId },
  'ids, ascending': { cursor: { kind: 'id' }, query: { after: '{{after}}' }, records: byId },
  'a position': { cursor: { kind: 'continue' }, query: {}, pagination: { ...token, path: '/position' } },
};

/** An order without a system. */
const mixed = (n: number): number => (n * 7_919) % 104_729;

/** Responds to any of the requests above. Late events come last in the order of their ids. */
function respond(log: readonly Event[], { cursor }: Partial<PollStream>, size: number, query: URLSearchParams): Reply {
  const since = Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z');
  const until = Date.parse(query.get('until') ?? '2200-01-01T00:00:00Z');
  const after = Number(query.get('after') ?? -1);
  const found = log.filter(({ at, n }) => at >= since && at <= until && n > after);
  if (cursor?.kind === 'time') found.sort((a, b) => a.at - b.at || a.n - b.n);
  if (cursor && 'order' in cursor && cursor.order === 'descending') found.reverse();
  if (cursor?.kind === 'time' && cursor.order === 'any') found.sort((a, b) => mixed(a.n) - mixed(b.n));
  const key = query.get('token');
  const [at = 0, n = -1] = key === null ? [] : key.split('-').map(Number);
  const from =
    Number(query.get('skip') ?? 0) +
    (Number(query.get('page') ?? 1) - 1) * size +
    (key === null
      ? 0
      : cursor?.kind === 'continue'
        ? at
        : found.filter((each) => each.at < at || (each.at === at && each.n <= n)).length);
  const data = found.slice(from, from + size);
  const last = data.at(-1);
  return {
    body: {
      data,
      total: String(found.length),
      position: String(from + data.length),
      ...(last && from + size < found.length && { next: `${last.at}-${last.n}` }),
    },
  };
}

describe.each(Object.entries(streams))('%s', (_name, changes) => {
  test.each(upTo(SEEDS))('loses and repeats nothing of a random log (seed %i)', async (seed) => {
    const random = seededRandom(seed + 1);
    const below = (limit: number): number => Math.floor(random() * limit);
    const size = 1 + below(5);
    const log: Event[] = [];
    let now = START;
    const dated = random() < 0.8;
    const { driver, clock } = await open(
      streamed({ records: byTime, pagination: { kind: 'none' }, page_size: size, ...changes }),
      (query) => ({
        ...respond(log, changes, size, query),
        headers: { date: dated ? new Date(now).toUTCString() : '' },
      }),
      { settings: random() < 0.5 ? {} : { start: new Date(START - DAY).toISOString() } },
    );
    // Without a `Date` header, the first window depends on our clock.
    const skew = (): number => (!dated || random() < 0.6 ? 0 : (random() - 0.5) * 60 * DAY);
    clock.ms = now + skew();
    await driver.poll();
    for (let round = 0; round < 25; round += 1) {
      now += below(40_000);
      for (let count = below(8); count > 0; count -= 1)
        log.push({ id: `i${log.length}`, n: log.length, at: now - (random() < 0.3 ? below(LATE) : 0) });
      clock.ms = now + skew();
      if (random() < 0.3) driver.restart();
      await driver.poll(random() < 0.5 ? Number.POSITIVE_INFINITY : 1 + below(4));
    }
    for (let round = 0; round < 3; round += 1) {
      now += 10_000;
      clock.ms = now;
      await driver.poll();
    }
    expect(driver.numbers).toEqual(upTo(log.length));
  });
});
