import { generateKeyPairSync, verify } from 'node:crypto';
import type { ConnectorConfig, ConnectorTypeData, PollDefinition, PollStream } from '@connector-frame/catalog';
import { afterEach, describe, expect, test } from 'vitest';
import { Driver, leadTo, START, TestClock } from '../../../../../test/support/poll-driver.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../../test/support/vendor.js';
import { createPollInput } from './poll-input.js';

const ORIGIN = 'https://api.acme.example';
const stream: PollStream = {
  name: 'events',
  path: '/events',
  query: { since: '{{since}}' },
  page_size: 2,
  records: { path: '/data', id: '/id', time: '/at', time_form: 'milliseconds' },
  pagination: { kind: 'none' },
  cursor: { kind: 'time', start: '/settings/start', overlap_seconds: 60 },
};
const poll: PollDefinition = {
  verified: 'contract',
  documentation: ['https://acme.example/docs'],
  base_url: ORIGIN,
  authentication: { kind: 'bearer', secret: '/secrets/token' },
  streams: [stream],
  check: { path: '/events', records: { path: '/data' } },
};
const config: ConnectorConfig = { settings: { start: '2026-03-10T11:00:00Z' }, secrets: { token: 'canary-token' } };
const type: ConnectorTypeData = {
  type_id: 'acme-events',
  kind: 'input',
  name: 'Acme',
  description: 'Events.',
  category: 'SaaS',
  vendor: 'Acme',
  version: '1.0.0',
  evidence: 'docs',
  config: {
    settings: { type: 'object', properties: {}, additionalProperties: false },
    secrets: { type: 'object', properties: {}, additionalProperties: false },
  },
};

/** Records `{ id, n, at }`, a second apart, from an hour ago on. */
const records = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({
    id: `i${from + index}`,
    n: from + index,
    at: START - 60_000 + (from + index) * 100,
  }));
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

const servers: Vendor[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

interface Opened {
  driver: Driver;
  clock: TestClock;
  requests: readonly Received[];
  elsewhere: string[];
}

async function open(
  definition: Partial<PollDefinition>,
  respond: (query: URLSearchParams, request: Received) => Reply,
  given: Partial<ConnectorConfig> = {},
): Promise<Opened> {
  const server = await startVendor((request) => respond(new URL(request.url, ORIGIN).searchParams, request));
  servers.push(server);
  const clock = new TestClock();
  const elsewhere: string[] = [];
  const egress = leadTo(server.origin, [ORIGIN], (origin) => elsewhere.push(origin));
  const create = createPollInput({ ...poll, ...definition });
  const driver = new Driver(() => {
    const input = create({ ...config, ...given }, { type, egress, clock });
    if (input.kind !== 'pages') throw new Error('no pages');
    return input;
  });
  return { driver, clock, requests: server.requests, elsewhere };
}

const streamed = (changes: Partial<PollStream>): Partial<PollDefinition> => ({ streams: [{ ...stream, ...changes }] });
const data = (...items: unknown[]): Reply => ({ body: { data: items } });

const signedWith = async (
  authentication: PollDefinition['authentication'],
  secrets: Record<string, string>,
): Promise<Received | undefined> => {
  const { driver, requests } = await open({ authentication }, () => data(), { secrets });
  await driver.poll();
  return requests[0];
};

describe('pagination', () => {
  const all = records(0, 7);
  const page = (from: number) => all.slice(from, from + 2);
  const byUrl = (query: URLSearchParams): Reply => {
    const from = Number(query.get('from') ?? 0);
    return { body: { data: page(from), next: from < 6 ? `/events?from=${from + 2}&other=x` : null } };
  };

  test('an offset, and a number of the page', async () => {
    const offset = await open(streamed({ pagination: { kind: 'offset', parameter: 'skip' } }), (query) =>
      data(...page(Number(query.get('skip') ?? 0))),
    );
    await offset.driver.poll();
    expect(offset.driver.numbers).toEqual(upTo(7));
    const paged = await open(streamed({ pagination: { kind: 'page', parameter: 'page', first: 1 } }), (query) =>
      data(...page((Number(query.get('page')) - 1) * 2)),
    );
    await paged.driver.poll();
    expect(paged.driver.numbers).toEqual(upTo(7));
  });

  test.each([
    ['<https://api.acme.example/events?from=2>; rel="next"'],
    ['<https://api.acme.example/events?x=1>; rel="prev", </events?from=2>; title="a, b"; rel="next last"'],
    ['<?from=2>; rel=next; x="y"'],
  ])('the link %s', async (link) => {
    const { driver, requests } = await open(streamed({ pagination: { kind: 'link_header' } }), (query) =>
      query.has('from') ? data(...page(2)) : { ...data(...page(0)), headers: { link } },
    );
    await driver.poll();
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer canary-token',
      'Bearer canary-token',
    ]);
    expect(driver.numbers).toEqual(upTo(4));
  });

  test('an address in the answer, and only a parameter of it', async () => {
    const followed = await open(streamed({ pagination: { kind: 'body_url', path: '/next' } }), byUrl);
    await followed.driver.poll();
    expect(followed.driver.numbers).toEqual(upTo(7));
    expect(followed.requests[1]?.url).toBe('/events?from=2&other=x');
    const taken = await open(streamed({ pagination: { kind: 'body_url', path: '/next', parameter: 'from' } }), byUrl);
    await taken.driver.poll();
    expect(taken.driver.numbers).toEqual(upTo(7));
    expect(taken.requests[1]?.url).toMatch(/^\/events\?since=[^&]+&from=2$/);
  });

  test('empty pages with a next one are read on', async () => {
    const { driver } = await open(
      streamed({ pagination: { kind: 'body_cursor', path: '/next', parameter: 'c' } }),
      (query) => {
        const at = Number(query.get('c') ?? 0);
        return { body: { data: at % 3 === 0 ? records(at, at + 1) : [], ...(at < 9 && { next: at + 1 }) } };
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual([0, 3, 6, 9]);
  });

  test.each([
    ['itself', (at: string) => (at === '' ? 'a' : at)],
    ['one before', (at: string) => (at === 'a' ? 'b' : 'a')],
    ['ever more pages with nothing in them', (at: string) => `${Number(at) + 1}`],
  ])('a page that leads to %s ends, and nothing of it is lost', async (_name, next) => {
    const { driver, requests } = await open(
      streamed({ pagination: { kind: 'body_cursor', path: '/next', parameter: 'c' } }),
      (query) => {
        const at = query.get('c') ?? '';
        return { body: { data: at === '' || /^\d/.test(at) ? [] : [{ id: at, n: at, at: START }], next: next(at) } };
      },
    );
    expect(await driver.fails()).toMatchObject({ code: 'unexpected_answer', kind: 'retry' });
    expect(await driver.fails()).toMatchObject({ code: 'unexpected_answer', kind: 'retry' });
    expect(new Set(driver.delivered.map(({ n }) => n)).size).toBe(driver.delivered.length);
    expect(requests.length).toBeLessThan(650);
  });

  test('a place that is not known any more: from the beginning of the stretch, without repeats', async () => {
    let valid = 'x';
    const { driver } = await open(
      streamed({ pagination: { kind: 'body_cursor', path: '/next', parameter: 'c' } }),
      (query) => {
        const [key, at = '0'] = (query.get('c') ?? `${valid}-0`).split('-');
        if (key !== valid) return { status: 400, body: { error: 'expired' } };
        return { body: { data: page(Number(at)), ...(Number(at) < 6 && { next: `${valid}-${Number(at) + 2}` }) } };
      },
    );
    await driver.poll(2);
    valid = 'y';
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
  });

  test('a vendor that refuses its own places is an error, not a loop', async () => {
    const { driver, requests } = await open(
      streamed({ pagination: { kind: 'body_cursor', path: '/next', parameter: 'c' } }),
      (query) => (query.has('c') ? { status: 400 } : { body: { data: page(0), next: 'x' } }),
    );
    expect(await driver.fails()).toMatchObject({ code: 'rejected', kind: 'permanent' });
    expect(await driver.fails()).toMatchObject({ code: 'rejected', kind: 'permanent' });
    expect(requests.length).toBeLessThan(8);
    expect(driver.numbers).toEqual([0, 1]);
  });

  test('a stored link to where another configuration led is not followed', async () => {
    const linked = streamed({
      pagination: { kind: 'link_header' },
      cursor: { kind: 'link', overlap_seconds: 60 },
      path: '/{{/settings/team}}/events',
    });
    let team = 'red';
    const server = await startVendor(({ url }) => ({
      ...data(...(url.includes('after') ? [] : page(0))),
      headers: { link: `<${ORIGIN}/red/events?after=1>; rel="next"` },
    }));
    servers.push(server);
    const egress = leadTo(server.origin, [ORIGIN], () => undefined);
    const create = createPollInput({ ...poll, ...linked });
    const driver = new Driver(() => {
      const input = create({ ...config, settings: { team } }, { type, egress, clock: new TestClock() });
      if (input.kind !== 'pages') throw new Error('no pages');
      return input;
    });
    await driver.poll();
    team = 'blue';
    driver.restart();
    await driver.poll(1);
    expect(server.requests.at(-1)?.url).toMatch(/^\/blue\/events\?since=/);
  });
});

describe('records', () => {
  test('without an id, a time, or being an object, they come all the same, and once', async () => {
    const odd = [
      { n: 1 },
      { n: 1 },
      { id: '', n: 2, at: 'soon' },
      7,
      null,
      [1],
      'text',
      { n: 3, id: 'a' },
      { n: 3, id: 'a' },
    ];
    const { driver, clock } = await open({}, () => data(...odd));
    for (let round = 0; round < 3; round += 1) {
      await driver.poll();
      driver.restart();
      clock.ms += 10_000;
    }
    expect(driver.delivered).toEqual([
      { n: 1 },
      { n: 1 },
      { id: '', n: 2, at: 'soon' },
      { value: 7 },
      { value: 'null' },
      { value: '[1]' },
      { value: 'text' },
      { n: 3, id: 'a' },
    ]);
  });

  test('twins without an id, on two pages, with a stop between', async () => {
    const { driver } = await open(
      streamed({
        records: { path: '/data', time: '/at', time_form: 'milliseconds' },
        pagination: { kind: 'offset', parameter: 'skip' },
      }),
      (query) =>
        data(
          ...[{ at: START }, { at: START }, { at: START }, { at: START }, { at: START }]
            .slice(Number(query.get('skip') ?? 0))
            .slice(0, 2),
        ),
    );
    await driver.poll(1);
    driver.restart();
    await driver.poll();
    expect(driver.delivered).toHaveLength(5);
    driver.restart();
    await driver.poll();
    expect(driver.delivered).toHaveLength(5);
  });

  test('a time in the future does not hide what comes until then', async () => {
    const log = [{ id: 'a', n: 0, at: START + 86_400_000 * 300 }];
    const { driver, clock } = await open({}, (query) =>
      data(...log.filter(({ at }) => at >= Date.parse(query.get('since') ?? ''))),
    );
    await driver.poll();
    clock.ms += 60_000;
    log.push({ id: 'b', n: 1, at: clock.ms });
    await driver.poll();
    expect(driver.numbers).toEqual([0, 1]);
  });

  test('by ascending id', async () => {
    const log = records(0, 5).map(({ n }) => ({ id: n + 10, n }));
    const byId = streamed({
      query: { after: '{{after}}' },
      records: { path: '/data', id: '/id' },
      cursor: { kind: 'id' },
    });
    const { driver, requests } = await open(byId, (query) =>
      data(...log.filter(({ id }) => id > Number(query.get('after') ?? 0)).slice(0, 2)),
    );
    await driver.poll(1);
    driver.restart();
    await driver.poll();
    log.push({ id: 15, n: 5 });
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(6));
    expect(requests.at(0)?.url).toBe('/events');
    expect(requests.at(-1)?.url).toBe('/events?after=14');
  });

  test('a page of several megabytes is read; one without end is not', async () => {
    const big = records(0, 2_000).map((record) => ({ ...record, text: 'x'.repeat(4_000) }));
    const { driver } = await open({}, () => data(...big));
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(2_000));
    const endless = await open({}, () => ({
      body: JSON.stringify({ data: [{ text: 'x'.repeat(17 * 1024 * 1024) }] }),
    }));
    expect(await endless.driver.fails()).toMatchObject({ code: 'unexpected_answer', kind: 'permanent' });
  });
});

describe('streams', () => {
  const two = {
    streams: [
      { ...stream, name: 'closed', path: '/closed' },
      { ...stream, name: 'open', path: '/open' },
    ],
  };

  test('one that is closed to us does not hold up the others, and is told', async () => {
    const { driver } = await open(two, (_query, { url }) =>
      url.startsWith('/closed') ? { status: 403 } : data(...records(0, 2)),
    );
    expect(await driver.fails()).toMatchObject({ code: 'forbidden', kind: 'permanent' });
    expect(await driver.fails()).toMatchObject({ code: 'forbidden' });
    expect(driver.numbers).toEqual([0, 1]);
  });

  test('an outage stops at once', async () => {
    const { driver, requests } = await open(two, () => ({ status: 500 }));
    expect(await driver.fails()).toMatchObject({ kind: 'retry' });
    expect(requests).toHaveLength(1);
  });
});

describe('limits', () => {
  test('when none are left nothing is asked until they begin again', async () => {
    const rate = { remaining: 'x-left', reset: 'x-reset', reset_form: 'seconds' as const };
    const { driver, clock, requests } = await open(
      { rate, ...streamed({ pagination: { kind: 'offset', parameter: 'skip' } }) },
      (query) => ({
        ...data(
          ...records(0, 3)
            .slice(Number(query.get('skip') ?? 0))
            .slice(0, 2),
        ),
        headers: { 'x-left': '0', 'x-reset': '30' },
      }),
    );
    expect(await driver.fails()).toMatchObject({ kind: 'throttled', afterMs: 30_000 });
    expect(requests).toHaveLength(1);
    clock.ms += 30_000;
    await driver.poll();
    expect(driver.numbers).toEqual([0, 1, 2]);
  });

  test.each([
    ['7', 7_000],
    [new Date(START + 9_000).toUTCString(), 9_000],
    [new Date(START + 9_000).toISOString(), 9_000],
    ['soon', 60_000],
  ])('Retry-After: %s', async (text, afterMs) => {
    const headers = { 'retry-after': text, date: new Date(START).toUTCString() };
    const { driver, clock } = await open({}, () => ({ status: 429, headers }));
    clock.ms += 3_600_000;
    expect(await driver.fails()).toMatchObject({ kind: 'throttled', afterMs });
  });

  test("the customer's own limit keeps requests apart", async () => {
    const limited = {
      rate: { limit: '/settings/limit' },
      ...streamed({ pagination: { kind: 'offset', parameter: 'skip' } as const }),
    };
    const { driver, clock } = await open(
      limited,
      (query) =>
        data(
          ...records(0, 7)
            .slice(Number(query.get('skip') ?? 0))
            .slice(0, 2),
        ),
      {
        settings: { ...config.settings, limit: { rate: 6, unit: 'per_minute' } },
      },
    );
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(7));
    expect(clock.ms - START).toBe(30_000);
  });
});

describe('signing in', () => {
  test('basic, a header, a parameter', async () => {
    const basic = await signedWith(
      { kind: 'basic', user: '/secrets/u', password: '/secrets/p' },
      { u: 'ada', p: 'canary' },
    );
    expect(basic?.headers.authorization).toBe(`Basic ${Buffer.from('ada:canary').toString('base64')}`);
    const header = await signedWith(
      { kind: 'header', name: 'X-Key', secret: '/secrets/k', prefix: 'Key ' },
      { k: 'canary' },
    );
    expect(header?.headers['x-key']).toBe('Key canary');
    const query = await signedWith({ kind: 'query', name: 'key', secret: '/secrets/k' }, { k: 'can&ary' });
    expect(query?.url).toMatch(/&key=can%26ary$/);
  });

  test('a secret that no header can carry is told without it, and so is an empty one', async () => {
    const broken = await open({}, () => data(), { secrets: { token: 'canary\nbreak' } });
    const error = await broken.driver.fails();
    expect(error).toMatchObject({ code: 'invalid_config', kind: 'permanent' });
    expect(JSON.stringify(error) + error.message).not.toContain('canary');
    await expect(open({}, () => data(), { secrets: {} })).rejects.toMatchObject({ code: 'invalid_config' });
  });

  test('a key of our own instead of a secret they know', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const authentication: PollDefinition['authentication'] = {
      kind: 'private_key_jwt',
      grant: 'client_assertion',
      token_url: `${ORIGIN}/token`,
      key: '/secrets/key',
      key_format: 'pem',
      algorithm: 'ES256',
      issuer: '/settings/client',
      scopes: ['logs.read'],
    };
    let form = new URLSearchParams();
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { driver, requests, clock } = await open(
      { authentication },
      (_query, { url, body }) => {
        if (url !== '/token') return data(...records(0, 1));
        form = new URLSearchParams(body);
        return { body: { access_token: 'canary-access', expires_in: 600 } };
      },
      { settings: { ...config.settings, client: 'me' }, secrets: { key } },
    );
    await driver.poll();
    await driver.poll();
    expect(requests.map(({ url }) => url.split('?')[0])).toEqual(['/token', '/events', '/events']);
    expect(requests[2]?.headers.authorization).toBe('Bearer canary-access');
    expect(Object.fromEntries(form)).toMatchObject({ grant_type: 'client_credentials', scope: 'logs.read' });
    const [head = '', claims = '', signature = ''] = (form.get('client_assertion') ?? '').split('.');
    const signed = { key: publicKey, dsaEncoding: 'ieee-p1363' as const };
    expect(verify('sha256', Buffer.from(`${head}.${claims}`), signed, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      iss: 'me',
      sub: 'me',
      aud: `${ORIGIN}/token`,
      exp: START / 1_000 + 300,
    });
    // Another one before the first is at its end.
    clock.ms += 550_000;
    await driver.poll();
    expect(requests.at(-2)?.url).toBe('/token');
  });

  test('settings can not lead secrets to another host or path', async () => {
    const hosted = {
      base_url: 'https://{{/settings/team}}.acme.example',
      ...streamed({ path: '/{{/settings/part}}/events' }),
    };
    const opened = (settings: Record<string, unknown>) => open(hosted, () => data(), { settings });
    for (const team of ['attacker.example/', 'x@attacker.example', 'a:443', 'attacker.example#', ''])
      await expect(opened({ team, part: 'a' })).rejects.toMatchObject({ code: 'invalid_config', kind: 'permanent' });
    for (const part of ['..', '.', ''])
      expect(await (await opened({ team: 'api', part })).driver.fails()).toMatchObject({ code: 'invalid_config' });
    const { driver, requests } = await opened({ team: 'api', part: '../../admin?x=1#y' });
    await driver.poll();
    expect(requests[0]?.url).toMatch(/^\/\.\.%2F\.\.%2Fadmin%3Fx%3D1%23y\/events\?since=/);
  });
});
