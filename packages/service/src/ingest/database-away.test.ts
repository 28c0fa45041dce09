import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DatabaseProxy } from '../../../../test/support/database-proxy.js';
import type { IngestListener } from '../../../../test/support/ingest-listener.js';
import { startProxiedListener, type ProxiedListener } from '../../../../test/support/proxied-listener.js';
import { createKnownConnectors } from './known-connectors.js';

const LIFETIME_MS = 3_600_000;

const away = () => Promise.reject(Object.assign(new Error('away'), { code: '57P03' }));

/** The intake while its database, a real PostgreSQL behind a proxy, is away. */
describe('records sent while the database is away', () => {
  let proxied: ProxiedListener;
  let proxy: DatabaseProxy;
  let listener: IngestListener;
  beforeAll(async () => {
    proxied = await startProxiedListener();
    ({ proxy, listener } = proxied);
  });
  afterAll(() => proxied.close());
  beforeEach(() => proxied.reset());

  const states: [string, () => Promise<void> | void][] = [
    ['refuses connections', () => proxy.refuse()],
    ['does not respond', () => proxy.stall()],
  ];
  describe.each(states)('and %s', (_name, take) => {
    it('are accepted for a connector that has sent before, until its lifetime ends', async () => {
      const input = await listener.newInput('monad-http');
      expect((await listener.send('{"n":0}', {}, input)).status).toBe(200);
      await take();
      listener.service.clock.advance(1_000);
      expect((await listener.send('{"n":1}', {}, input)).status).toBe(200);
      listener.service.clock.advance(LIFETIME_MS - 2_000);
      expect((await listener.send('{"n":2}', {}, input)).status).toBe(200);
      listener.service.clock.advance(2_000);
      const late = await listener.send('{"n":3}', {}, input);
      expect([late.status, late.json.error_type, late.headers['retry-after']]).toEqual([503, 'unavailable', '5']);
      expect(listener.engine.appended.flatMap(({ lines }) => lines)).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
    });

    it('get 503 with Retry-After for a connector that has not sent before, and 401 for a wrong token', async () => {
      const input = await listener.newInput('monad-http');
      await take();
      const unknown = await listener.send('{}', {}, input);
      expect([unknown.status, unknown.json.error_type, unknown.headers['retry-after']]).toEqual([
        503,
        'unavailable',
        '5',
      ]);
      expect((await listener.post(`/ingest/${input}`, '{}', { token: 'cfi_wrong' })).status).toBe(401);
      await proxy.restore();
      listener.service.clock.advance(2_000);
      await expect.poll(async () => (await listener.send('{}', {}, input)).status).toBe(200);
    });

    it('get 401 for a connector that was seen to be deleted', async () => {
      const input = await listener.newInput('monad-http');
      expect((await listener.send('{}', {}, input)).status).toBe(200);
      await listener.service.call('DELETE', `/v1/${listener.acme.team}/inputs/${input}`, { key: listener.acme.key });
      listener.service.clock.advance(500);
      expect((await listener.send('{}', {}, input)).status).toBe(401);
      await take();
      listener.service.clock.advance(1_000);
      expect((await listener.send('{}', {}, input)).status).toBe(401);
    });
  });

  it('are rejected for a deleted connector as soon as the database responds again', async () => {
    const input = await listener.newInput('monad-http');
    const status = async () => {
      listener.service.clock.advance(1_000);
      return (await listener.send('{}', {}, input)).status;
    };
    await expect.poll(status).toBe(200);
    await proxy.refuse();
    expect(await status()).toBe(200);
    await proxy.restore();
    await listener.service.call('DELETE', `/v1/${listener.acme.team}/inputs/${input}`, { key: listener.acme.key });
    await expect.poll(status).toBe(401);
  });
});

describe('known connectors', () => {
  const connector = { id: 'a', organizationId: 'o', kind: 'input', type: 'monad-http' } as const;

  it('query a database that is away once a second, however many connectors are asked for', async () => {
    let [elapsed, queries] = [0, 0];
    const known = createKnownConnectors({
      load: () => ((queries += 1), away()),
      clock: { elapsed: () => elapsed },
      lifetimeMs: LIFETIME_MS,
    });
    for (; elapsed < 10_000; elapsed += 10)
      await expect(known.get(`id-${elapsed}`)).rejects.toMatchObject({ status: 503 });
    expect(queries).toBe(10);
  });

  it('keep at most ten thousand entries, those loaded last', async () => {
    let isAway = false;
    let elapsed = 0;
    const known = createKnownConnectors({
      load: (id) => (isAway ? away() : Promise.resolve({ ...connector, id })),
      clock: { elapsed: () => elapsed },
      lifetimeMs: LIFETIME_MS,
    });
    for (let n = 0; n <= 10_000; n += 1) await known.get(`id-${n}`);
    isAway = true;
    elapsed = 5_000;
    expect(await known.get('id-1')).toMatchObject({ id: 'id-1' });
    await expect(known.get('id-0')).rejects.toMatchObject({ status: 503 });
  });

  it('report an error that is not an outage', async () => {
    const known = createKnownConnectors({
      load: () => Promise.reject(new TypeError('a mistake')),
      clock: { elapsed: () => 0 },
      lifetimeMs: LIFETIME_MS,
    });
    await expect(known.get('a')).rejects.toThrow(TypeError);
  });
});
