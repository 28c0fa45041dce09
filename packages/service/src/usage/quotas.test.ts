import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '@connector-frame/catalog';
import { connectors } from '@connector-frame/connectors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { freePort } from '../../../../test/support/free-port.js';
import { listenHttp, type WebListener } from '../../../../test/support/listener.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { createShiftedClock } from '../../../../test/support/shifted-clock.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createIngest } from '../ingest/create-ingest.js';
import { createIngestTokens } from '../ingest/tokens.js';
import { DAY, HOUR, periodOf } from './periods.js';

const MB = 1_000_000;
const day = { limit_type: 'ingress_bytes', limit_amount: MB, timeframe: 'day', action: 'DISABLE' };

describe('a quota', () => {
  const databases = anyDatabase();
  // An hour before midnight.
  const clock = createShiftedClock(Date.UTC(2030, 0, 30, 23));
  const now = (): number => clock.now();
  /** Repeats something while the time of the service passes ten times as fast. */
  const poll = <T>(read: () => Promise<T>) =>
    expect.poll(
      () => {
        clock.pass(500);
        return read();
      },
      { timeout: 20_000, interval: 50 },
    );
  const until = (read: () => Promise<unknown>, wanted: object) => poll(read).toMatchObject(wanted);
  let folder: string;
  let service: TestService;
  let acme: Tenant;
  let receiver: Vendor;
  let front: WebListener;
  let ports: Map<string, number>;

  async function open(master?: TestService['master']): Promise<void> {
    service = await createTestService({
      database: service?.database ?? (await databases.open()),
      ...(master && { master }),
      egressAllow: ['127.0.0.1/32'],
      clock,
      run: {
        folder,
        clock,
        limits: { grace: 500 },
        listenAt: async ({ id, port }) => {
          if (port === null) return undefined;
          const own = ports.get(id) ?? (await freePort());
          ports.set(id, own);
          return { host: '127.0.0.1', port: own };
        },
      },
    });
    const ingest = createIngest({
      store: service.store,
      tokens: createIngestTokens(service.vault),
      vault: service.vault,
      egress: createEgress({ allow: [] }),
      catalog: loadCatalog(),
      connectors,
      engine: { append: async (...given) => service.engine?.append(...given) ?? { stored: false, reason: 'closed' } },
      clock,
      lifetimeMs: HOUR,
      log: service.logger,
      metrics: service.metrics,
    });
    front = await listenHttp((request, response) => void ingest(request, response));
  }

  const call = (method: string, path: string, body?: unknown, key = acme.key) =>
    service.call(method, path.replace('~', acme.team), { key, ...(body === undefined ? {} : { body }) });
  async function must(method: string, path: string, body?: unknown) {
    const answer = await call(method, path, body);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer.body;
  }
  async function pipeline(type: string, settings: object = {}, org = acme.team) {
    const { id: input } = await must('POST', `/v2/${org}/inputs`, { name: type, type, config: { settings } });
    const http = { endpoint: receiver.origin, method: 'POST', payload_structure: 'array' };
    const output = { type: 'http', config: { settings: http } };
    const { pipeline_id: id } = await must('POST', `/v2/${org}/integrations`, { input_id: input, name: type, output });
    return { id, input, state: async () => must('GET', `/v2/${org}/pipelines/${id}/status`) };
  }
  /** The numbers of all records that have arrived. */
  const arrived = () =>
    receiver.requests
      .flatMap(({ body }): { n?: number }[] => JSON.parse(body))
      .flatMap(({ n }) => (n === undefined ? [] : [n]))
      .toSorted((a, b) => a - b);

  let next = 0;
  const acknowledged: number[] = [];
  /** Sends 100 records of a kilobyte each. */
  async function send(input: string) {
    const numbers = Array.from({ length: 100 }, () => (next += 1));
    const { token, url } = (await must('GET', `/v1/~/inputs/${input}`)).ingest;
    const response = await fetch(`${front.origin}${new URL(url).pathname}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: numbers.map((n) => JSON.stringify({ n, text: 'x'.repeat(980) })).join('\n'),
    });
    const body = await response.json();
    if (response.ok) acknowledged.push(...numbers);
    return { status: response.status, retryAfter: Number(response.headers.get('retry-after')), body };
  }
  const logged = async (id: string): Promise<string[]> =>
    (await must('GET', `/v2/~/pipelines/${id}/logs?limit=200`)).entries.map(({ code }: { code: string }) => code);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quotas-'));
    ports = new Map();
    receiver = await startVendor(() => ({}));
    await open();
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await front.close();
    await service.close();
    await receiver.close();
    await databases.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('pauses at 1 MB a day, loses nothing acknowledged, and resumes at midnight', async () => {
    const pushed = await pipeline('monad-http');
    const other = await must('POST', `/v3/${acme.id}/organizations`, { name: 'Other' });
    const others = await pipeline('monad-http', {}, other.id);
    await until(pushed.state, { status: 'Running' });
    const quota = await must('POST', '/v2/quotas', { organization_id: acme.team, name: 'A megabyte', ...day });
    let refused: Awaited<ReturnType<typeof send>> | undefined;
    await poll(async () => (refused = await send(pushed.input)).status).toBe(429);
    expect(refused).toMatchObject({ body: { error_type: 'quota_exceeded', code: 429 }, retryAfter: 60 });
    const midnight = new Date(periodOf('day', now()).end).toISOString();
    const suspension = { reason: 'quota', message: expect.stringContaining('1000000 ingress bytes'), until: midnight };
    await until(pushed.state, { status: 'Disabled', suspension });
    expect((await must('GET', '/v2/~/pipelines/statuses'))[0]).toMatchObject({ status: 'Disabled', suspension });
    expect(await others.state()).toMatchObject({ suspension: null });
    expect((await call('POST', `/v2/~/pipelines/${pushed.id}/trigger`)).body.error).toContain('1000000 ingress bytes');
    // What other inputs of the organization would receive waits as well.
    const syslog = await pipeline('monad-syslog');
    const polled = await pipeline('demo', { record_type: 'okta-systemlog', rate: 100 });
    await until(syslog.state, { status: 'Disabled', suspension });
    await until(polled.state, { status: 'Disabled', suspension, ingress: { records: 0 } });
    expect((await send(pushed.input)).status).toBe(429);

    const state = await pushed.state();
    expect(state.ingress.bytes).toBeGreaterThanOrEqual(MB);
    expect(state.ingress).toMatchObject({ records: acknowledged.length });
    await service.engine?.storeUsage();
    const { quotas } = await must('GET', '/v2/~/quotas');
    expect(quotas).toMatchObject([
      { id: quota.id, current_usage: state.ingress.bytes, limit_unit: 'bytes', end_at: midnight },
    ]);
    expect(now() - Date.parse(quotas[0].current_usage_updated_at)).toBeLessThan(HOUR);

    // A restart keeps it: nothing runs in between.
    await front.close();
    await service.engine?.close();
    const delivered = arrived().length;
    await open(service.master);
    await service.engine?.started;
    expect(await pushed.state()).toMatchObject({ status: 'Disabled', suspension });
    expect([(await send(pushed.input)).status, arrived().length]).toEqual([429, delivered]);

    const port = [...ports.values()][0] ?? 0;
    const socket = connect(port, '127.0.0.1');
    await new Promise<void>((resolve) => socket.end('<14>1 - host app - - - waiting\n', resolve));
    clock.advance(Date.parse(midnight) - now());
    await until(pushed.state, { status: 'Running', suspension: null, waiting: 0 });
    await until(syslog.state, { egress: { records: 1 } });
    await until(polled.state, { status: 'Running' });
    expect(await logged(pushed.id)).toEqual(expect.arrayContaining(['suspended']));
    expect((await send(pushed.input)).status).toBe(200);
    await until(pushed.state, { egress: { records: acknowledged.length } });
    expect(arrived()).toEqual(acknowledged);
    await must('PATCH', `/v1/~/pipelines/${polled.id}`, { enabled: false });
  });

  it('that is raised or deleted resumes, and a clock that jumps does not count twice', async () => {
    const { input, state } = await pipeline('monad-http');
    const [quota] = (await must('GET', '/v2/~/quotas')).quotas;
    const use = async () => {
      await poll(async () => (await send(input)).status).toBe(429);
      await until(state, { status: 'Disabled', suspension: { reason: 'quota' } });
    };
    await use();
    const { used } = await usage(quota.id);
    // Back to the day before, which is used up too, then to the day after, and back.
    clock.advance(-DAY);
    await until(state, { status: 'Disabled', suspension: { until: expect.stringMatching(/^2030-01-31T00/) } });
    clock.advance(2 * DAY);
    await until(state, { status: 'Running', suspension: null });
    expect(await usage(quota.id)).toMatchObject({ used: 0 });
    clock.advance(-DAY);
    await until(state, { status: 'Disabled', suspension: { until: expect.stringMatching(/^2030-02-01T00/) } });
    expect(await usage(quota.id)).toMatchObject({ used });
    // Twice as much: it runs again until that is used up.
    await must('PUT', `/v2/quotas/${quota.id}`, { name: 'Two', ...day, limit_amount: 2 * MB });
    await until(state, { status: 'Running', suspension: null });
    await use();
    expect((await usage(quota.id)).used).toBeGreaterThanOrEqual(2 * MB);
    await must('DELETE', `/v2/quotas/${quota.id}`);
    await until(state, { status: 'Running', suspension: null });
    await until(state, { waiting: 0 });
    expect(new Set(arrived())).toEqual(new Set(acknowledged));
  });

  it('of an account counts all of its organizations, and one with the action NONE only tells it', async () => {
    const account = await must('POST', '/v2/billing/accounts', { name: 'Acme', billing_email: 'a@acme.example' });
    const { id: sister } = await must('POST', `/v3/${acme.id}/organizations`, { name: 'Sister' });
    for (const id of [acme.team, sister]) await must('PUT', `/v2/billing/accounts/${account.id}/organizations/${id}`);
    const [one, two] = [await pipeline('monad-http'), await pipeline('monad-http', {}, sister)];
    const before = (await must('GET', `/v2/~/metrics?metric=egress_bytes&${window()}`)).values;
    const month = { limit_type: 'egress_bytes', timeframe: 'month', name: 'Month' };
    const sum = before.reduce((total: number, { value }: { value: number }) => total + value, 0);
    const shared = { billing_account_id: account.id, ...month };
    await must('POST', '/v2/quotas', { ...shared, limit_amount: sum + MB / 2, action: 'NONE' });
    await must('POST', '/v2/quotas', { ...shared, limit_amount: sum + MB, action: 'DISABLE' });
    await poll(async () => (await send(one.input)).status).toBe(429);
    const message = 'A quota of the billing account of the organization is used up';
    for (const { state } of [one, two])
      await until(state, { status: 'Disabled', suspension: { message: expect.stringContaining(message) } });
    expect(service.log.filter((line) => line.includes('quota used up')).map((line) => JSON.parse(line))).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'NONE', billing_account_id: account.id }),
        expect.objectContaining({ action: 'DISABLE', billing_account_id: account.id }),
      ]),
    );
    for (const id of [one.id]) expect(await logged(id)).toEqual(expect.arrayContaining(['quota', 'suspended']));
    // A quota of the account shows nothing of the others to a team.
    const team = await must('POST', `/v3/${acme.team}/api-keys`, { name: 'T', permissions: ['read'] });
    expect((await call('GET', '/v2/quotas', undefined, team.key)).body.quotas).toEqual([]);
    expect((await call('GET', `/v2/quotas?billing_account_id=${account.id}`)).body.pagination.total).toBe(2);

    const path = `/v2/billing/accounts/${account.id}`;
    await must('DELETE', `${path}/organizations/${sister}`);
    await until(two.state, { status: 'Running', suspension: null });
    // A suspended account holds back those that are left, also without a quota.
    for (const { id } of (await must('GET', '/v2/quotas')).quotas) await must('DELETE', `/v2/quotas/${id}`);
    await until(one.state, { status: 'Running', suspension: null });
    await must('PATCH', path, { suspend_on: new Date(now() + 3 * DAY).toISOString() });
    expect(await must('GET', path)).toMatchObject({ status: 'inactive' });
    clock.advance(3 * DAY);
    await until(one.state, { status: 'Disabled', suspension: { reason: 'account_suspended', until: null } });
    expect(await send(one.input)).toMatchObject({ status: 429, body: { error_type: 'suspended' } });
    expect(await must('GET', path)).toMatchObject({ status: 'suspended' });
    await must('PATCH', path, { suspend_on: null });
    await until(one.state, { status: 'Running', suspension: null, waiting: 0 });
    expect(new Set(arrived())).toEqual(new Set(acknowledged));
  });

  const window = () =>
    `start=${new Date(periodOf('month', now()).start).toISOString()}&end=${new Date(now() + HOUR).toISOString()}&resolution=1h`;

  async function usage(id: string): Promise<{ used: number }> {
    await service.engine?.storeUsage();
    return { used: (await must('GET', `/v2/quotas/${id}`)).current_usage };
  }
});
