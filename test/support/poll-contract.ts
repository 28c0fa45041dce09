import { loadCatalog } from '@connector-frame/catalog';
import { validateConfig } from '@connector-frame/catalog/validate';
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { connectors } from '../../packages/connectors/src/index.js';
import { undeclaredFields } from './declared-fields.js';
import { Driver, PollWorld } from './poll-driver.js';
import { MINUTE, testLog } from './poll-log-contract.js';
import { secretsOf } from './secret-texts.js';
import type { Reply } from './vendor.js';
import type { PollVendor } from './vendors/poll-vendor.js';

/**
 * Defines the behavior of every vendor that is polled through its data file, against a server that
 * responds as the vendor documents.
 */
export function runPollContract(vendor: PollVendor): void {
  const type = loadCatalog().get('input', vendor.type);
  const poll = type?.poll;
  if (!type || !poll) throw new Error(`${vendor.type} has no poll`);
  const snapshot = poll.streams.every(({ cursor }) => cursor.kind === 'none');
  const worlds: PollWorld[] = [];
  const open = async (pageSize?: number): Promise<PollWorld> => {
    const world = await PollWorld.open(vendor, pageSize);
    worlds.push(world);
    return world;
  };
  /**
   * Opens a world whose log has ten events from the last minutes, pairs of them at the same time.
   */
  const filled = async (pageSize?: number): Promise<PollWorld> => {
    const world = await open(pageSize);
    for (let index = 0; index < 10; index += 1) world.happen(4 * MINUTE - Math.floor(index / 2) * 5_000);
    return world;
  };

  describe(`${vendor.type}: poll contract`, () => {
    afterEach(async () => {
      for (const world of worlds.splice(0)) {
        await world.close();
        expect(world.elsewhere).toEqual([]);
      }
    });

    test('has a valid configuration and names its sources', () => {
      expect(validateConfig(type.config, vendor.config)).toEqual([]);
      expect(poll.documentation.length).toBeGreaterThan(0);
    });

    test('reads every event once, page by page', async () => {
      const world = await filled();
      const driver = Driver.of(world);
      await driver.poll();
      expect(driver.numbers).toEqual(world.numbers);
    });

    test('reads an empty log without failure', async () => {
      const driver = Driver.of(await open());
      await driver.poll();
      expect(driver.numbers).toEqual([]);
    });

    if (!snapshot) {
      testLog(vendor, poll, { open, filled });
    } else {
      test('reads the list again when the schedule is due, and not before', async () => {
        const world = await filled();
        const driver = Driver.of(world);
        await driver.poll();
        world.advance(30 * MINUTE);
        driver.restart();
        const before = world.requests.length;
        await driver.poll();
        // A request is sent before the schedule is due, because the status is measured, not
        // assumed.
        expect(world.requests.length).toBeGreaterThan(before);
        expect(driver.numbers).toEqual(world.numbers);
        world.advance(30 * MINUTE);
        await driver.poll();
        expect(driver.delivered).toHaveLength(20);
      });
    }

    test('waits as long as Retry-After says and resumes', async () => {
      const world = await filled();
      const driver = Driver.of(world);
      await driver.poll(1);
      const { reply, afterMs } = vendor.throttle(world.vendorNow());
      world.queued.push(reply);
      driver.restart();
      world.advance(snapshot ? 60 * MINUTE : 0);
      world.revoke();
      const first = world.requests.length;
      const error = await driver.fails();
      expect(error).toMatchObject({ code: 'rate_limited', kind: 'throttled' });
      expect(Math.abs((error.afterMs ?? 0) - afterMs)).toBeLessThanOrEqual(1_000);
      // No request is sent before that time.
      expect(await driver.fails()).toMatchObject({ kind: 'throttled' });
      expect(world.requests).toHaveLength(first + 1);
      world.advance(afterMs + 1_000);
      await driver.poll();
      world.advance(3 * MINUTE);
      await driver.poll();
      expect(new Set(driver.numbers)).toEqual(new Set(world.numbers));
      if (!snapshot) expect(driver.numbers).toEqual(world.numbers);
    });

    test('retries an outage and a response that is not JSON', async () => {
      const world = await filled();
      const driver = Driver.of(world);
      world.queued.push({ status: 502, body: 'bad gateway' });
      expect(await driver.fails()).toMatchObject({ code: 'upstream_error', kind: 'retry' });
      world.queued.push({ headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Welcome</title>' });
      expect(await driver.fails()).toMatchObject({ code: 'unexpected_answer', kind: 'retry' });
      world.queued.push({ body: '{"cut off": [' });
      expect(await driver.fails()).toMatchObject({ kind: 'retry' });
      await driver.poll();
      expect(driver.numbers).toEqual(world.numbers);
    });

    test('reports a wrong credential with our own message on its field', async () => {
      const world = await filled();
      const wrong = { ...vendor.config, secrets: { ...vendor.config.secrets, ...vendor.wrong } };
      const error = await Driver.of(world, wrong).fails();
      expect(error).toMatchObject({ code: 'invalid_credentials', kind: 'permanent' });
      expect(error.message).toMatch(/did not accept the credentials\.$/);
      const outcome = await tested(world, wrong);
      expect(outcome).toMatchObject({
        ok: false,
        reason: 'invalid_credentials',
        issues: [{ path: expect.stringMatching(/^\/secrets\//) }],
      });
      expect(undeclaredFields(`input:${vendor.type}`, outcome)).toEqual([]);
    });

    test('passes the connection test with valid credentials', async () => {
      const world = await filled();
      expect(await tested(world, vendor.config)).toMatchObject({
        ok: true,
        summary: expect.stringMatching(/^Read \d/),
      });
    });

    test('renews revoked tokens once', async () => {
      const world = await filled();
      const driver = Driver.of(world);
      await driver.poll();
      world.revoke();
      world.advance(61 * MINUTE);
      world.happen(30_000);
      await driver.poll();
      world.advance(3 * MINUTE);
      await driver.poll();
      expect(new Set(driver.numbers)).toEqual(new Set(world.numbers));
    });

    test.each([200, 302, 400, 401, 403, 404, 418, 429, 500, 503])(
      'leaks nothing from a %i response that echoes the request',
      async (status) => {
        const world = await filled();
        const texts: string[] = [];
        for (const skip of [0, 1]) {
          const driver = Driver.of(world);
          for (let index = 0; index < skip; index += 1) world.queued.push((own) => own);
          world.queued.push(() => echo(status, world.requests.at(-1)));
          const error = await driver.fails().catch((other: unknown) => other);
          texts.push(inspect(error, { depth: 10 }));
          world.queued.length = 0;
        }
        for (const part of texts) {
          expect(part.toLowerCase()).not.toContain('canary');
          for (const secret of secretsOf(vendor.config.secrets))
            for (const form of [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)])
              expect(part).not.toContain(form);
        }
      },
    );

    test.runIf(vendor.elsewhere)('rejects a next page on another origin without a request to it', async () => {
      const world = await filled();
      for (const other of ['https://attacker.example', `${vendor.origins[0]}:8443`]) {
        world.queued.push((own) => vendor.elsewhere?.(own, other) ?? own);
        expect(await Driver.of(world).fails()).toMatchObject({ code: 'redirected', kind: 'permanent' });
      }
      // Behind a proxy, a vendor may not know that it is reached by TLS: the host is right.
      world.queued.push((own) => vendor.elsewhere?.(own, `http://${new URL(vendor.origins[0] ?? '').host}`) ?? own);
      await Driver.of(world)
        .poll()
        .catch((error: unknown) => expect(error).toMatchObject({ code: 'rejected' }));
      expect(world.requests.filter(({ origin }) => !origin.startsWith('https://'))).toEqual([]);
      const sent = world.requests.length;
      world.queued.push({ status: 302, headers: { location: 'https://attacker.example/' }, body: '' });
      expect(await Driver.of(world).fails()).toMatchObject({ code: 'redirected', kind: 'permanent' });
      expect(world.requests).toHaveLength(sent + 1);
    });

    function tested(world: PollWorld, config: PollVendor['config']) {
      const tester = type && connectors({ ...type, type_id: 'polled' }).testConnection;
      if (!tester) throw new Error('no tester');
      // The connection test uses the system clock, so the vendor must too.
      world.clock.ms = Date.now();
      return tester(config, { egress: world.egress, signal: new AbortController().signal });
    }
  });
}

/** Returns a response that echoes the request in every text field. */
function echo(status: number, request: unknown): Reply {
  const sent = `canary ${JSON.stringify(request)}`;
  return {
    status,
    headers: { 'x-echo': encodeURIComponent(sent).slice(0, 2_000) },
    body: {
      message: sent,
      error: sent,
      errors: [{ message: sent, detail: sent }],
      errorSummary: sent,
      ok: false,
      stat: sent,
    },
  };
}
