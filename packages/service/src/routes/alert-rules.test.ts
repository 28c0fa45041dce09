import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { codeOf } from '../../../../test/support/guides.js';
import { exampleRule } from '../../../../test/support/operations.js';
import { createTestService, type Answer, type Tenant, type TestService } from '../../../../test/support/service.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const records = (change: object) => ({
  type: 'threshold-alert',
  rule_config: {
    settings: {
      metric_config: { type: 'records', records: { direction: 'ingress', threshold: 1 } },
      operator: 'less_than',
      time_window: '5m',
      ...change,
    },
  },
});
const rate = (change: object) => ({
  type: 'error-rate-alert',
  rule_config: { settings: { threshold: 5, time_window: '1h', ...change } },
});
const budget = (settings: object) => ({
  type: 'billing-metrics-cost-budget',
  rule_config: { settings },
});
const log = (settings: object) => ({ type: 'monad-log-alert', rule_config: { settings } });
const SETTINGS = '/rule_config/settings';
const at = (path: string): string => `${SETTINGS}/${path}`;

/** The JSON object in the arguments of a command. */
const objectIn = (command: string): unknown =>
  JSON.parse(command.slice(command.indexOf('{'), command.lastIndexOf('}') + 1));

const issuesOf = ({ status, body }: Answer): [number, string[]] => [
  status,
  (body.additional_details?.issues ?? []).map(({ path }: { path: string }) => path),
];

describe('alert rules', () => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;
  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  const send = (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> =>
    service.call(method, path.replace('~', acme.team), {
      key: acme.key,
      headers,
      ...(body === undefined ? {} : { body }),
    });
  const create = (change: object = {}) => send('POST', '/v3/~/alert_rules', { ...exampleRule, ...change });
  const pipeline = async (): Promise<string> => (await send('POST', '/v2/~/pipelines', { name: 'P' })).body.id;

  it('have types with the JSON Schema of their configuration', async () => {
    const { body: types } = await send('GET', '/v3/alert_rules');
    expect(types.map((type: Record<string, unknown>) => [type['type_id'], type['house'], type['granularity']])).toEqual(
      [
        ['threshold-alert', 'Metrics', 'pipeline'],
        ['error-rate-alert', 'Metrics', 'pipeline'],
        ['pipeline-status-alert', 'Metrics', 'pipeline'],
        ['monad-log-alert', 'Logs', 'pipeline'],
        ['billing-metrics-cost-budget', 'Billing', 'billing_account'],
      ],
    );
    for (const type of types) expect((await send('GET', `/v3/alert_rules/${type.type_id}`)).body).toEqual(type);
    expect(types[2].config.properties.settings.properties.time_window).toMatchObject({ type: 'string', default: '5m' });
    expect((await send('GET', '/v3/alert_rules/unknown')).status).toBe(404);
  });

  it('are created, read, listed, replaced and deleted', async () => {
    const id = await pipeline();
    const given = { ...exampleRule, description: 'D', pipeline_ids: [id, id], invert_selection: true, active: false };
    const { status, body: rule, headers } = await create(given);
    expect(status).toBe(201);
    expect(rule).toMatchObject({ ...given, pipeline_ids: [id], organization_id: acme.team, managed_by: 'customer' });
    expect((await send('GET', `/v3/~/alert_rules/${rule.id}`)).body).toEqual(rule);
    const { body: list } = await send('GET', '/v3/~/alert_rules?limit=1');
    expect(list).toMatchObject({ alert_rules: [rule], pagination: { limit: 1, offset: 0, total: 1 } });

    const { type: _type, ...rest } = exampleRule;
    const stale = { 'If-Match': '"7"' };
    expect((await send('PUT', `/v3/~/alert_rules/${rule.id}`, rest, stale)).status).toBe(412);
    const fresh = { 'If-Match': headers.get('etag') ?? '' };
    const { body: replaced } = await send('PUT', `/v3/~/alert_rules/${rule.id}`, { ...rest, severity: 'low' }, fresh);
    expect(replaced).toMatchObject({
      id: rule.id,
      type: exampleRule.type,
      severity: 'low',
      description: '',
      active: true,
      pipeline_ids: [],
      invert_selection: false,
      created_at: rule.created_at,
    });
    // Sent back as it was read.
    expect((await send('PUT', `/v3/~/alert_rules/${rule.id}`, replaced)).status).toBe(200);
    expect((await send('DELETE', `/v3/~/alert_rules/${rule.id}`)).status).toBe(204);
    expect((await send('GET', `/v3/~/alert_rules/${rule.id}`)).status).toBe(404);
    expect((await send('DELETE', `/v3/~/alert_rules/${rule.id}`)).status).toBe(404);
  });

  it('keep a pipeline that was deleted, so that they do not become rules about all', async () => {
    const id = await pipeline();
    const { body: rule } = await create({ pipeline_ids: [id] });
    await send('DELETE', `/v2/~/pipelines/${id}`);
    const { status, body } = await send('PUT', `/v3/~/alert_rules/${rule.id}`, rule);
    expect([status, body.pipeline_ids]).toEqual([200, [id]]);
    expect(issuesOf(await create({ pipeline_ids: [id] }))).toEqual([400, ['/pipeline_ids/0']]);
  });

  it('can’t change their type', async () => {
    const { body: rule } = await create();
    const settings = { status: 'Erroring' };
    const other = { ...rule, type: 'pipeline-status-alert', rule_config: { settings } };
    expect(issuesOf(await send('PUT', `/v3/~/alert_rules/${rule.id}`, other))).toEqual([400, ['/type']]);
  });

  it('are limited to 200 per organization', async () => {
    const tenant = await service.tenant('Many');
    await service.database.script((run) =>
      run(`insert into alert_rules select 'r' || n, '${tenant.team}', 'R', '', 'threshold-alert', 'low', false, '{}', false,
        '{}', 1, now(), now() from generate_series(1, 200) as n`),
    );
    const path = `/v3/${tenant.team}/alert_rules`;
    expect((await service.call('POST', path, { key: tenant.key, body: exampleRule })).status).toBe(409);
  });

  it.each([
    ['severity', { severity: 'urgent' }, ['/severity']],
    ['type', { type: 'no-such-type' }, ['/type']],
    ['pipelines', { pipeline_ids: [UNKNOWN] }, ['/pipeline_ids/0']],
    ['an empty name', { name: ' ' }, ['/name']],
    ['no settings', { rule_config: {} }, [SETTINGS]],
    ['settings without their object', { rule_config: { operator: 'less_than' } }, ['/rule_config/operator', SETTINGS]],
    ['another field', records({ unit: 'KB' }), [at('unit')]],
    ['an unknown metric', records({ metric_config: { type: 'latency' } }), [at('metric_config/type')]],
    ['the other metric', records({ metric_config: { type: 'errors', records: {} } }), undefined],
    ['no unit', records({ metric_config: { type: 'bytes', bytes: { direction: 'egress', threshold: 1 } } }), undefined],
    ['a negative threshold', records({ metric_config: { type: 'errors', errors: { threshold: -1 } } }), undefined],
    ['a part of a record', records({ metric_config: { type: 'errors', errors: { threshold: 0.5 } } }), undefined],
    ['an operator', records({ operator: 'equals' }), [at('operator')]],
    ['a window that is too short', records({ time_window: '20s' }), [at('time_window')]],
    ['a window that is too long', records({ time_window: '31d' }), [at('time_window')]],
    ['a window of 45 seconds', records({ time_window: '45s' }), [at('time_window')]],
    ['a window of 10 minutes and 10 seconds', records({ time_window: '10m10s' }), [at('time_window')]],
    ['a window of 24 hours and a minute', records({ time_window: '24h1m' }), [at('time_window')]],
    ['no duration', records({ time_window: '5 minutes' }), [at('time_window')]],
    ['a rate over 100', rate({ threshold: 101 }), [at('threshold')]],
    ['part of a record at least', rate({ min_records: 1.5 }), [at('min_records')]],
    ['a status', { type: 'pipeline-status-alert', rule_config: { settings: { status: 'Running' } } }, [at('status')]],
    ['a log without a filter', log({}), [at('levels')]],
    ['a log without levels', log({ levels: [] }), [at('levels')]],
    ['another log', log({ log_type: 'audit', levels: ['error'] }), [at('log_type')]],
    ['a level', log({ levels: ['trace'] }), [at('levels/0')]],
    ['a filter without a value', log({ message_filter: { operator: 'contains' } }), [at('message_filter/value')]],
    ['a pattern', log({ message_filter: { operator: 'matches_regex', value: '(' } }), [at('message_filter/value')]],
    ['no budget', budget({}), [at('usd_amount')]],
    ['a budget of nothing', budget({ usd_amount: 0 }), [at('usd_amount')]],
    ['a negative budget', budget({ usd_amount: -1 }), [at('usd_amount')]],
    ['cents', budget({ usd_amount: 10.5 }), [at('usd_amount')]],
    ['a budget as text', budget({ usd_amount: '10' }), [at('usd_amount')]],
    ['more than an integer holds', budget({ usd_amount: 1e300 }), [at('usd_amount')]],
  ])('reject %s, and name the field', async (_name, change, paths) => {
    const [status, issues] = issuesOf(await create(change));
    expect(status).toBe(400);
    if (paths) expect(issues.toSorted()).toEqual([...paths].toSorted());
    else expect(issues.every((path) => path.startsWith(at('metric_config/'))) && issues.length > 0).toBe(true);
  });

  it.each(['30s', '90s', '10m', '11m', '1h', '1h30m', '24h', '25h', '7d', '30d'])(
    'accept a window of %s',
    async (time_window) => {
      expect((await create(records({ time_window }))).status).toBe(201);
    },
  );

  it('are accepted as the guide shows them, and so is a pipeline that delivers their alerts', async () => {
    for (const file of ['errors', 'silent', 'rate', 'status', 'log', 'budget'])
      expect([file, (await create(JSON.parse(await codeOf('alerts', `${file}.json`)))).status]).toEqual([file, 201]);
    const [input = '', integration = ''] = (await codeOf('alerts', 'deliver.sh')).split('--json ').slice(1);
    const { id } = (await send('POST', '/v2/~/inputs', objectIn(input))).body;
    const { status } = await send('POST', '/v2/~/integrations', objectIn(integration.replace(`'$INPUT'`, id)));
    expect(status).toBe(201);
  });

  it('return their configuration as it was given', async () => {
    const given = log({ levels: ['error', 'fatal'], message_filter: { operator: 'matches_regex', value: 'a+$' } });
    expect((await create(given)).body.rule_config).toEqual(given.rule_config);
  });
});
