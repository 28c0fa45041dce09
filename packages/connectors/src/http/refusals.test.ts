/**
 * A server that answers 400 to everything for a while, with records arriving at full rate. `LONG=1`
 * keeps it up for a minute and prints what it measured.
 */
import { afterEach, expect, test } from 'vitest';
import { createEgress } from '@connector-frame/engine/egress';
import { systemClock } from '@connector-frame/engine/connector-api';
import { graph, numbered, numbersUpTo, openWorld } from '@connector-frame/engine/testing';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { long } from '../../../../test/support/long.js';
import { numbersIn } from '../../../../test/support/output-attempt.js';
import { push } from '../../../../test/support/pipeline-parts.js';
import { startVendor } from '../../../../test/support/vendor.js';
import { createHttpOutput } from './output.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Duration of the outage in milliseconds, and records per append. */
const OUTAGE_MS = long ? 60_000 : 3_000;
const PER_APPEND = 500;
const MAX_RECORDS = long ? 1_000_000 : 40_000;

test.each([
  ['from the first request on', 0],
  ['after it has worked', 1_000],
])(
  'a server that answers 400 to everything, %s, loses nothing and makes few dead letters',
  async (_name, before) => {
    let refusing = before === 0;
    let requests = 0;
    const taken = new Set<number>();
    const server = await startVendor((request) => {
      if (refusing) {
        requests += 1;
        return { status: 400, body: 'no' };
      }
      for (const n of numbersIn(request)) taken.add(n);
      return { status: 202 };
    });
    ends.push(() => server.close());
    const egress = createEgress({ allow: ['127.0.0.0/8'] });
    ends.push(() => egress.close?.());
    const settings = { endpoint: `${server.origin}/in`, method: 'POST', payload_structure: 'array' };
    const context = { type: typeOf('output:http'), egress, clock: systemClock };
    const out = createHttpOutput({ settings, secrets: {} }, context);
    const world = await openWorld(268_435_456);
    const definition = graph('in out', 'in>out');
    // The service's limit, instead of the short one of tests.
    const limits = { retryCap: 30_000 };
    const runner = world.runner({ definition, inputs: { in: push }, outputs: { out }, limits });
    await runner.start();

    let sent = 0;
    const append = async (count: number): Promise<void> => {
      expect(await runner.sink.append(numbered(count, sent))).toMatchObject({ stored: true });
      sent += count;
    };
    if (before > 0) await append(before);
    await expect.poll(() => taken.size, { timeout: 60_000 }).toBe(before);
    refusing = true;
    const end = performance.now() + OUTAGE_MS;
    while (performance.now() < end) {
      if (sent < MAX_RECORDS) await append(PER_APPEND);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }

    const state = await runner.state();
    expect(state).toMatchObject({
      status: 'Erroring',
      last_error: { code: 'refused', message: expect.stringContaining('HTTP 400') },
      needs_attention: { code: 'refused', node_id: 'out' },
    });
    const { dead_letters: letters } = state;
    expect(letters.waiting).toBeLessThanOrEqual(10);
    expect([letters.dropped, state.waiting]).toEqual([0, sent - taken.size]);
    // 19 to isolate the first records, 10 to recognize the outage, then one per wait.
    expect(requests).toBeLessThan(60);
    if (long) console.log({ outage_ms: OUTAGE_MS, sent, requests, dead_letters: letters.waiting });

    refusing = false;
    runner.retryNow();
    await expect.poll(() => taken.size + letters.waiting, { timeout: 300_000, interval: 100 }).toBe(sent);
    await runner.deadLetters.replay('out');
    await expect.poll(() => taken.size, { timeout: 60_000 }).toBe(sent);
    expect([...taken].toSorted((a, b) => a - b)).toEqual(numbersUpTo(sent));
    await expect.poll(async () => (await runner.state()).status).toBe('Running');
  },
  OUTAGE_MS + 300_000,
);
