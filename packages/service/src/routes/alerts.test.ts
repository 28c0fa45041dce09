import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  ANY_ERROR,
  clientOf,
  openAlertWorld,
  type AlertShape,
  type AlertWorld,
} from '../../../../test/support/alert-world.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { readLogs } from '../../../../test/support/log-reader.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';

type EventShape = AlertShape & { event: string };

const DEV_NULL = { type: 'dev-null' };
const silentFor = (time_window: string) => ({
  metric_config: { type: 'records', records: { direction: 'ingress', threshold: 1 } },
  operator: 'less_than',
  time_window,
});
const lines = (count: number): string[] => Array.from({ length: count }, (_, n) => `{"n":${n}}`);
const ended = (alerts: readonly AlertShape[]): string[] => alerts.map(({ metadata }) => String(metadata['ended']));
const about = (alerts: readonly AlertShape[]) => alerts.map(({ resource }) => resource.resource_id).toSorted();

/** A server that refuses one of ten records, each sent on its own. */
async function picky(): Promise<Vendor> {
  const server = await startVendor(({ body }) => ({ status: /"n":\d*7\b/.test(body) ? 400 : 200, body: {} }));
  onTestFinished(() => server.close());
  return server;
}

/** An HTTP server that refuses everything until `accept` is set. */
async function receiver(accept = false) {
  const state = { accept };
  const server = await startVendor(() => ({ status: state.accept ? 200 : 400, body: {} }));
  onTestFinished(() => server.close());
  return { state, server, output: httpOutput(server) };
}
const httpOutput = ({ origin }: Vendor) => ({
  type: 'http',
  config: { settings: { endpoint: `${origin}/records`, method: 'POST', payload_structure: 'array' } },
});

describe('alerts', () => {
  const databases = anyDatabase();
  let world: AlertWorld;
  beforeAll(async () => {
    world = await openAlertWorld({ database: await databases.open() });
  });
  afterAll(async () => {
    await world.close();
    await databases.close();
  });

  const tenantOf = (name: string) => world.service.tenant(name);
  async function clientFor(name: string) {
    return clientOf(world, await tenantOf(name));
  }
  type Client = Awaited<ReturnType<typeof clientFor>>;
  const append = async (input: string, count: number): Promise<void> => {
    expect(await world.service.engine?.append(input, lines(count))).toMatchObject({ stored: true });
  };
  const firing = async (client: Client, query = ''): Promise<AlertShape[]> =>
    (await client.alerts(query)).filter(({ status }) => status.state === 'FIRING');
  const resolvedIn = (client: Client) =>
    world.until(async () => (await client.alerts()).find(({ status }) => status.state === 'RESOLVED'));
  const switchTo = (client: Client, pipeline: string, enabled: boolean) =>
    client.must('PATCH', `/v1/~/pipelines/${pipeline}`, { enabled });

  it('fire within one evaluation when an output refuses records, stay one incident, and resolve', async () => {
    const client = await clientFor('Refusing');
    const { state, output } = await receiver();
    const { input, pipeline } = await client.build(output);
    const rule = await client.rule('threshold-alert', ANY_ERROR, { description: 'See the runbook.' });
    await world.step(3);
    expect(await client.alerts()).toEqual([]);
    await append(input, 50);
    const status = async () => (await client.must('GET', `/v2/~/pipelines/${pipeline}/status`)).status;
    await expect.poll(status).toBe('Erroring');
    const before = world.seconds();
    await world.step();
    await expect.poll(async () => (await client.alerts()).length).toBe(1);
    const [fired] = await client.alerts();
    expect(fired).toMatchObject({
      rule_id: rule,
      rule_type: 'threshold-alert',
      severity: 'high',
      resource: { resource_type: 'pipeline', resource_id: pipeline },
      status: { state: 'FIRING' },
      metadata: {
        pipeline_name: 'Source',
        metric: 'errors',
        threshold: 0,
        value: 1,
        failed_records: 0,
        failed_attempts: 1,
        time_window: '1m',
        last_error: { code: 'refused' },
      },
    });
    expect(fired?.description).toMatch(/^Pipeline "Source": 1 errors in the last 1m .*\n\nSee the runbook\.$/s);
    expect((fired?.created_at ?? 0) - before).toBeLessThanOrEqual(10);
    // The waits between the attempts become longer than the window.
    await world.step(20);
    expect(await client.alerts()).toMatchObject([{ id: fired?.id, status: { state: 'FIRING' } }]);
    state.accept = true;
    await client.must('POST', `/v1/~/pipelines/${pipeline}/retry`);
    const clearing = await world.until(async () =>
      (await client.alerts()).find((each) => each.status.clearing_started_at !== undefined),
    );
    expect(clearing).toMatchObject({ id: fired?.id, created_at: fired?.created_at, status: { state: 'FIRING' } });
    const resolved = await resolvedIn(client);
    expect(resolved).toMatchObject({
      id: fired?.id,
      fired_at: fired?.fired_at,
      status: { clearing_started_at: clearing.status.clearing_started_at },
      metadata: { value: 0 },
    });
    expect((resolved.status.resolved_at ?? 0) - (clearing.status.clearing_started_at ?? 0)).toBeGreaterThanOrEqual(60);
    await world.step(10);
    expect(await client.alerts()).toHaveLength(1);
  }, 60_000);

  it('do not resolve while a failure comes back within the time for clearing', async () => {
    const client = await clientFor('Flapping');
    const { input } = await client.build((await receiver()).output);
    await client.rule('threshold-alert', ANY_ERROR);
    // Each of these records is refused on its own, and goes to the dead letters.
    await append(input, 1);
    const fired = await world.until(async () => (await client.alerts())[0]);
    for (let round = 0; round < 2; round += 1) {
      await world.until(async () => (await client.alerts())[0]?.status.clearing_started_at !== undefined);
      await append(input, 1);
      await world.until(async () => (await client.alerts())[0]?.status.clearing_started_at === undefined);
    }
    expect(await client.alerts()).toMatchObject([
      { id: fired.id, fired_at: fired.fired_at, status: { state: 'FIRING' } },
    ]);
  }, 60_000);

  it('tell a silent source from one that is paused on purpose, and end when it is paused', async () => {
    const client = await clientFor('Silent');
    const [silent, busy, paused] = [
      await client.build(DEV_NULL),
      await client.build(DEV_NULL),
      await client.build(DEV_NULL),
    ];
    await switchTo(client, paused.pipeline, false);
    await client.rule('threshold-alert', silentFor('30s'));
    for (let n = 0; n < 6; n += 1) {
      await append(busy.input, 1);
      await world.step();
    }
    await expect.poll(async () => about(await firing(client))).toEqual([silent.pipeline]);
    // Resumed: it has to be silent for the whole window first.
    await switchTo(client, paused.pipeline, true);
    await append(busy.input, 1);
    await world.step(2);
    expect(about(await firing(client))).toEqual([silent.pipeline]);
    await world.until(async () => (await firing(client)).length === 3);
    await switchTo(client, silent.pipeline, false);
    const resolved = await resolvedIn(client);
    expect(resolved.resource.resource_id).toBe(silent.pipeline);
  }, 60_000);

  it('are about all pipelines, also later ones, or all but some, and end with the rule or the pipeline', async () => {
    const client = await clientFor('Selecting');
    const [one, two] = [await client.build(DEV_NULL), await client.build(DEV_NULL)];
    const all = await client.rule('threshold-alert', silentFor('30s'), { name: 'all' });
    const others = { name: 'others', pipeline_ids: [one.pipeline], invert_selection: true };
    const inverted = await client.rule('threshold-alert', silentFor('30s'), others);
    await client.rule('threshold-alert', silentFor('30s'), { name: 'off', active: false });
    const three = await client.build(DEV_NULL);
    await world.until(async () => (await firing(client)).length === 5);
    expect(about(await firing(client, `?rule_ids=${all}`))).toEqual(
      [one, two, three].map((p) => p.pipeline).toSorted(),
    );
    expect(about(await firing(client, `?rule_ids=${inverted}`))).toEqual(
      [two, three].map((p) => p.pipeline).toSorted(),
    );

    const { body: rule } = await client.send('GET', `/v3/~/alert_rules/${inverted}`);
    const { type: _type, ...replaced } = { ...rule, pipeline_ids: [two.pipeline], invert_selection: false };
    await client.must('PUT', `/v3/~/alert_rules/${inverted}`, replaced);
    await client.must('DELETE', `/v2/~/pipelines/${three.pipeline}`);
    await world.until(async () => (await firing(client)).length === 3);
    // Whichever is found first: the pipeline was deleted, and is not selected either.
    expect(ended((await client.alerts(`?rule_ids=${inverted}`)).filter((a) => a.status.resolved_at))[0]).toMatch(
      /^pipeline_/,
    );

    await client.must('PUT', `/v3/~/alert_rules/${inverted}`, { ...replaced, active: false });
    await client.must('DELETE', `/v3/~/alert_rules/${all}`);
    await world.until(async () => (await firing(client)).length === 0);
    expect(ended(await client.alerts())).toContain('rule_deleted');
    expect(ended(await client.alerts())).toContain('rule_inactive');
    // They stay ended.
    const { length } = await client.alerts();
    await world.step(8);
    expect([await firing(client), (await client.alerts()).length]).toEqual([[], length]);
  }, 60_000);

  it('judge the rate of errors only with enough records', async () => {
    const client = await clientFor('Rates');
    const { input, pipeline } = await client.build({
      type: 'http',
      config: {
        settings: { endpoint: `${(await picky()).origin}/x`, method: 'POST', payload_structure: 'single' },
      },
    });
    const settings = { threshold: 5, time_window: '2m', min_records: 50 };
    await client.rule('error-rate-alert', settings);
    // The history must cover the window.
    await world.step(13);
    const errors = async () => (await client.must('GET', `/v2/~/pipelines/${pipeline}/status`)).errors;
    await append(input, 40);
    await expect.poll(errors).toBe(4);
    await world.step(2);
    expect(await client.alerts()).toEqual([]);
    await append(input, 40);
    await expect.poll(errors).toBe(8);
    const fired = await world.until(async () => (await client.alerts())[0]);
    expect(fired.metadata).toMatchObject({ pipeline_id: pipeline, records: 80, errors: 8, error_rate: 10 });
  }, 60_000);

  it('wait until a status has lasted, and continue through a change of the pipeline', async () => {
    const client = await clientFor('Statuses');
    const { output, state } = await receiver();
    const { input, pipeline } = await client.build(output);
    await client.rule('pipeline-status-alert', { status: 'Erroring', time_window: '2m' });
    await append(input, 50);
    await world.step(10);
    expect(await client.alerts()).toEqual([]);
    const fired = await world.until(async () => (await client.alerts())[0]);
    expect(fired).toMatchObject({ metadata: { status: 'Erroring', time_window: '2m' } });
    expect(fired.created_at - Number(fired.metadata['since'])).toBeGreaterThanOrEqual(120);
    await client.must('PATCH', `/v2/~/pipelines/${pipeline}`, { description: 'changed' });
    await world.step(6);
    expect(await client.alerts()).toMatchObject([{ id: fired.id, status: { state: 'FIRING' } }]);
    state.accept = true;
    await client.must('POST', `/v1/~/pipelines/${pipeline}/retry`);
    expect(await resolvedIn(client)).toMatchObject({ id: fired.id, metadata: { status: 'Running' } });
  }, 60_000);

  it('of the log are about the node, are not repeated within the window, and resolve after it', async () => {
    const client = await clientFor('Logs');
    const { output, state } = await receiver();
    const { input, pipeline } = await client.build(output);
    const message_filter = { operator: 'starts_with', value: 'The destination refuses' };
    await client.rule('monad-log-alert', { levels: ['error'], message_filter, dedupe_window: '5m' });
    await client.rule('monad-log-alert', { levels: ['fatal'], dedupe_window: '5m' }, { name: 'never' });
    await world.step();
    await append(input, 50);
    const fired = await world.until(async () => (await client.alerts())[0]);
    const { body } = await client.send('GET', `/v2/~/pipelines/${pipeline}`);
    const node = body.nodes.find((each: { component_type: string }) => each.component_type === 'output');
    expect(fired).toMatchObject({
      resource: { resource_type: 'node', resource_id: node.id, parent_type: 'pipeline', parent_id: pipeline },
      metadata: { level: 'error', code: 'refused', node_slug: node.slug, matches: expect.any(Number) },
    });
    await world.step(20);
    expect(await client.alerts()).toMatchObject([{ id: fired.id, fired_at: fired.fired_at }]);
    const again = await world.until(async () => (await client.alerts()).find((a) => a.fired_at > fired.fired_at));
    expect(again).toMatchObject({ id: fired.id, created_at: fired.created_at });
    expect(again.fired_at - fired.fired_at).toBeGreaterThanOrEqual(300);
    expect(Number(again.metadata['matches'])).toBeGreaterThan(Number(fired.metadata['matches']));
    state.accept = true;
    await client.must('POST', `/v1/~/pipelines/${pipeline}/retry`);
    const resolved = await resolvedIn(client);
    expect((resolved.status.clearing_started_at ?? 0) - again.fired_at).toBeGreaterThanOrEqual(290);
    expect(await client.alerts()).toHaveLength(1);
  }, 60_000);

  it('judge a window that is longer than the memory by the stored counts', async () => {
    const client = await clientFor('Long');
    const { input, pipeline } = await client.build(DEV_NULL);
    const records = { direction: 'ingress', threshold: 9 };
    const settings = { metric_config: { type: 'records', records }, operator: 'greater_than', time_window: '15m' };
    await client.rule('threshold-alert', settings);
    await append(input, 5);
    await world.step(60);
    await append(input, 5);
    const fired = await world.until(async () => (await client.alerts())[0]);
    expect(fired.metadata).toMatchObject({ pipeline_id: pipeline, value: 10, time_window: '15m' });
    const { window_start: start, window_end: end } = fired.metadata;
    expect([Number(end) - Number(start), Number(end) % 60]).toEqual([900, 0]);
    // The first five leave the window.
    await resolvedIn(client);
  }, 60_000);

  it('are streamed from a time on, then live, by filter, and resume without a gap or a repeat', async () => {
    const tenant = await tenantOf('Streams');
    const client = clientOf(world, tenant);
    const open = (query: string, cutAfter?: () => number) => {
      const path = `/v3/${tenant.team}/alerts/stream${query}`;
      const reader = readLogs<EventShape>(() => world.service.app, path, tenant.key, cutAfter);
      onTestFinished(() => reader.stop());
      return reader;
    };
    const live = open('');
    const one = await client.build(DEV_NULL);
    const rule = await client.rule('threshold-alert', silentFor('30s'), { severity: 'low' });
    await world.until(async () => (await firing(client)).length === 1);
    // Inclusive, and the alert may have fired at this time of the clock.
    const since = new Date(world.clock.now() + 1).toISOString();
    await world.step();
    const two = await client.build(DEV_NULL);
    await world.until(async () => (await firing(client)).length === 2);
    const all = open('?last=1h', () => 2);
    const later = open(`?since=${since}`);
    const ofOne = open(`?last=1h&pipeline_ids=${one.pipeline}`);
    const byResource = open(`?last=1h&resource_ids=${two.pipeline}&resource_type=pipeline&rule_ids=${rule}`);
    const low = open('?last=1h&severities=low,info');
    const high = open('?last=1h&severities=high');
    await client.must('DELETE', `/v3/~/alert_rules/${rule}`);
    await world.until(async () => (await firing(client)).length === 0);

    const shown = (entries: readonly EventShape[]) =>
      entries.map(({ event, resource }) => `${event} ${resource.resource_id === one.pipeline ? 'one' : 'two'}`);
    const ends = expect.arrayContaining(['resolved one', 'resolved two']);
    await expect.poll(() => shown(all.entries)).toEqual(ends);
    expect(shown(all.entries).slice(0, 2)).toEqual(['fired one', 'fired two']);
    expect(all.entries).toHaveLength(4);
    expect(all.connections).toBeGreaterThan(1);
    for (const reader of [live, low]) await expect.poll(() => shown(reader.entries)).toEqual(shown(all.entries));
    await expect.poll(() => shown(later.entries)).toEqual(shown(all.entries).slice(1));
    await expect.poll(() => shown(ofOne.entries)).toEqual(['fired one', 'resolved one']);
    await expect.poll(() => shown(byResource.entries)).toEqual(['fired two', 'resolved two']);
    expect(high.entries).toEqual([]);
  }, 60_000);

  it('are listed by filters', async () => {
    const client = await clientFor('Lists');
    const { pipeline } = await client.build(DEV_NULL);
    const rule = await client.rule('threshold-alert', silentFor('30s'), { severity: 'critical' });
    const [alert] = await world.until(async () => {
      const found = await client.alerts();
      return found.length > 0 && found;
    });
    const at = (seconds: number) => new Date(((alert?.created_at ?? 0) + seconds) * 1_000).toISOString();
    const count = async (query: string): Promise<[number, number]> => {
      const body = await client.must('GET', `/v3/~/alerts?${query}`);
      return [body.alerts.length, body.total];
    };
    for (const query of [
      '',
      'rule_ids=',
      `rule_ids=x,${rule}`,
      'severities=low,critical',
      `pipeline_ids=${pipeline}`,
      `resource_type=pipeline&resource_ids=${pipeline}`,
      // It is still firing.
      `since=${at(3_600)}`,
      `until=${at(1)}`,
    ])
      expect([query, await count(query)]).toEqual([query, [1, 1]]);
    for (const query of ['rule_ids=x', 'severities=low', 'pipeline_ids=x', 'resource_type=node', `until=${at(0)}`])
      expect([query, await count(query)]).toEqual([query, [0, 0]]);
    await client.must('DELETE', `/v3/~/alert_rules/${rule}`);
    await world.until(async () => (await firing(client)).length === 0);
    expect(await count(`since=${at(3_600)}`)).toEqual([0, 0]);
    for (const query of ['severities=urgent', 'resource_type=thing', 'since=yesterday', 'last=5m', 'rule_ids=a b'])
      expect([query, (await client.send('GET', `/v3/~/alerts?${query}`)).status]).toEqual([query, 400]);
    const stream = await client.send('GET', '/v3/~/alerts/stream?last=5m&since=2030-01-01T00:00:00Z');
    expect(stream.body.additional_details.issues).toMatchObject([{ path: '/last' }]);
  }, 60_000);

  it('of one organization are nothing to another, also not to its parent', async () => {
    const tenant = await tenantOf('Isolated');
    const client = clientOf(world, tenant);
    await client.build(DEV_NULL);
    const parent = clientOf(world, { ...tenant, team: tenant.id });
    await parent.rule('threshold-alert', silentFor('30s'));
    await client.rule('threshold-alert', silentFor('30s'));
    await world.until(async () => (await client.alerts()).length === 1);
    await world.step(3);
    expect(await parent.alerts()).toEqual([]);
  }, 60_000);
});
