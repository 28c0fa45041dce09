import { describe, expect, test } from 'vitest';
import type { PollStream } from '@connector-frame/catalog';
import { data, open, streamed, upTo } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';
import type { Reply } from '../../../../../test/support/vendor.js';
import { decodeSeen } from './seen.js';
import { readState } from './state.js';

const MINUTE = 60_000;
const DAY = 86_400_000;

interface Event {
  id: string;
  n: number;
  at: number;
}

/** A vendor with its own clock and a log that one event is added to every ten seconds. */
class Log {
  readonly events: Event[] = [];
  /** Whether responses have a `Date` header. */
  dated = true;
  now = START;
  pageSize = 100;

  advance(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.now += 10_000) this.add(this.now);
  }

  add(at: number): void {
    this.events.push({ id: `i${this.events.length}`, n: this.events.length, at });
  }

  readonly respond = (query: URLSearchParams): Reply => {
    const since = Date.parse(query.get('since') ?? '');
    const until = Date.parse(query.get('until') ?? '2200-01-01T00:00:00Z');
    const from = Number(query.get('skip') ?? 0);
    const found = this.events.filter(({ at }) => at >= since && at <= until).slice(from, from + this.pageSize);
    return { ...data(...found), headers: { date: this.dated ? new Date(this.now).toUTCString() : '' } };
  };
}

const paged: Partial<PollStream> = { page_size: 100, pagination: { kind: 'offset', parameter: 'skip' } };
const time = { kind: 'time', start: '/settings/start', overlap_seconds: 600 } as const;
const windows: [string, Partial<PollStream>][] = [
  ['open windows', { ...paged, cursor: time }],
  ['windows with an end', { ...paged, cursor: time, query: { since: '{{since}}', until: '{{until}}' } }],
  [
    'windows of limited length',
    {
      ...paged,
      cursor: { ...time, longest_seconds: 86_400 },
      query: { since: '{{since}}', until: '{{until}}' },
    },
  ],
];

async function start(changes: Partial<PollStream>, settings: Record<string, unknown> = {}) {
  const log = new Log();
  const opened = await open(streamed(changes), log.respond, { settings });
  return { log, ...opened };
}

describe.each(windows)('%s', (_name, changes) => {
  describe.each([
    ['with a Date header', true],
    ['without a Date header', false],
  ])('%s', (_header, dated) => {
    test.each([30, -30])('loses nothing when our clock is %i days ahead for one poll', async (days) => {
      const { log, driver, clock } = await start(changes);
      log.dated = dated;
      await driver.poll();
      for (let round = 0; round < 12; round += 1) {
        log.advance(100_000);
        clock.ms = log.now + (round === 1 ? days * DAY : 0);
        await driver.poll();
      }
      expect(driver.numbers).toEqual(upTo(120));
    });
  });

  test.each([1, -1, 30 * 24, -20 * 365 * 24])(
    'loses nothing when our clock is always %i hours ahead',
    async (hours) => {
      const { log, driver, clock } = await start(changes);
      clock.ms += hours * 60 * MINUTE;
      await driver.poll();
      for (let round = 0; round < 18; round += 1) {
        log.advance(100_000);
        clock.ms += 100_000;
        if (round % 5 === 0) driver.restart();
        await driver.poll();
      }
      expect(driver.numbers).toEqual(upTo(180));
    },
  );

  test('loses nothing when the Date header is 30 days ahead for one poll', async () => {
    const { log, driver, clock } = await start(changes);
    await driver.poll();
    for (let round = 0; round < 12; round += 1) {
      log.advance(100_000);
      clock.ms = log.now;
      if (round === 1) log.now += 30 * DAY;
      await driver.poll();
      log.now = clock.ms;
    }
    expect(driver.numbers).toEqual(upTo(120));
  });

  test('starts at the configured time whatever our clock says', async () => {
    const { log, driver, clock } = await start(changes, { start: new Date(START + 500_000).toISOString() });
    clock.ms -= 30 * DAY;
    for (let round = 0; round < 12; round += 1) {
      log.advance(100_000);
      clock.ms += 100_000;
      await driver.poll();
    }
    expect(driver.numbers).toEqual(upTo(120).slice(50));
  });
});

test('repeats no record without a Date header when our clock is 30 days behind', async () => {
  const { log, driver, clock } = await start({ ...paged, cursor: { ...time, overlap_seconds: 60 } });
  log.dated = false;
  clock.ms -= 30 * DAY;
  for (let round = 0; round < 18; round += 1) {
    log.advance(100_000);
    clock.ms += 100_000;
    await driver.poll();
  }
  expect(driver.numbers).toEqual(upTo(180));
});

test('a record of the far future does not move the cursor to our clock', async () => {
  const { log, driver, clock } = await start({ ...paged, cursor: time });
  log.add(START + 300 * DAY);
  await driver.poll();
  for (let round = 0; round < 12; round += 1) {
    log.advance(100_000);
    // Without a `Date` header, only the records tell that our clock is an hour ahead.
    log.dated = false;
    clock.ms = log.now + 60 * MINUTE;
    await driver.poll();
  }
  expect(driver.numbers).toEqual(upTo(121));
});

const busyOverlap = (seen?: number): Partial<PollStream> => ({
  page_size: 1_000,
  pagination: { kind: 'offset', parameter: 'skip' },
  cursor: { ...time, overlap_seconds: 3_600, ...(seen !== undefined && { seen }) },
});
const readBusy = async (changes: Partial<PollStream>) => {
  const { log, driver, clock } = await start(changes);
  log.pageSize = 1_000;
  await driver.poll();
  let largest = 0;
  for (let round = 0; round < 8; round += 1) {
    for (let index = 0; index < 1_000; index += 1) log.add(log.now + index * 50);
    log.now += 50_000;
    clock.ms = log.now;
    if (round % 3 === 0) driver.restart();
    await driver.poll();
    largest = Math.max(largest, driver.cursor.length);
  }
  return { numbers: driver.numbers, largest };
};

describe('a busy overlap', () => {
  test('of 8,000 records repeats none, with a small cursor', async () => {
    const { numbers, largest } = await readBusy(busyOverlap());
    expect(numbers).toEqual(upTo(8_000));
    expect(largest).toBeLessThan(100_000);
  });

  test('with more records than are remembered repeats none', async () => {
    const { numbers, largest } = await readBusy(busyOverlap(1_500));
    expect(numbers).toEqual(upTo(8_000));
    expect(largest).toBeLessThan(20_000);
  });
});

test('continues from a cursor that an earlier version stored', () => {
  const seen = [
    ['AAAAAAAAAAAA', START, 1],
    ['BBBBBBBBBBBB', START + 1, 3],
    ['short', START, 1],
  ];
  const { streams } = readState({ streams: { events: { since: START, seen } } });
  expect(decodeSeen(streams['events']?.seen ?? [])).toEqual(
    new Map([
      ['AAAAAAAAAA', { time: START, count: 1 }],
      ['BBBBBBBBBB', { time: START + 1, count: 3 }],
    ]),
  );
});
