import { afterEach, describe, expect, it, test } from 'vitest';
import { alertRecord as alert, resolvedRecord as resolved } from '../../../../test/support/alert-record.js';
import { attempt, noted, outputContext } from '../../../../test/support/output-attempt.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { PAGERDUTY_KEY, pagerDuty } from '../../../../test/support/vendors/pagerduty.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createBatch } from '@connector-frame/engine/connector-api';
import { createPagerDutyOutput } from './output.js';

const configFor = (changes: Record<string, unknown> = {}, secrets: Record<string, unknown> = {}) => ({
  settings: { default_event_type: 'alert', ...changes },
  secrets: { routing_key: PAGERDUTY_KEY, ...secrets },
});

for (const type of ['alert', 'change'])
  runOutputContract(`pagerduty with ${type} events`, {
    type: 'output:pagerduty',
    at: (origin) => ({
      create: createPagerDutyOutput({ api: origin }),
      config: configFor({ default_event_type: type }),
    }),
    accept: pagerDuty,
  });

let server: Vendor | undefined;
afterEach(() => server?.close());

async function outputFor(
  config = configFor(),
  respond: (request: Received) => Reply = pagerDuty,
): Promise<ReturnType<ReturnType<typeof createPagerDutyOutput>>> {
  const { origin } = (server = await startVendor(respond));
  return createPagerDutyOutput({ api: origin })(config, outputContext('output:pagerduty'));
}
const sent = (): { url: string; event: Record<string, unknown> }[] =>
  (server?.requests ?? []).map(({ url, body }) => ({ url, event: JSON.parse(body) }));
const batchOf = (...records: object[]) =>
  createBatch(
    'b',
    records.map((record) => JSON.stringify(record)),
  );

describe('alerts of the service', () => {
  it('trigger, remind and resolve one alert in PagerDuty', async () => {
    const reminder = { ...alert, event: 'reminded', fired_at: 1_893_470_400 };
    await attempt(await outputFor(), batchOf(alert, reminder, resolved));
    expect(sent().map(({ url, event }) => [url, event['event_action'], event['dedup_key']])).toEqual([
      ['/v2/enqueue', 'trigger', alert.id],
      ['/v2/enqueue', 'trigger', alert.id],
      ['/v2/enqueue', 'resolve', alert.id],
    ]);
    expect(sent()[0]?.event).toEqual({
      routing_key: PAGERDUTY_KEY,
      event_action: 'trigger',
      dedup_key: alert.id,
      client: 'Connector Frame',
      payload: {
        summary: 'Errors: Pipeline "Okta": 3 errors in the last 1m (alert above 0).',
        severity: 'error',
        source: 'Okta',
        timestamp: '2030-01-01T00:00:00.000Z',
        class: 'threshold-alert',
        custom_details: alert,
      },
    });
  });

  it('are in order for one alert, however many are written at a time', async () => {
    const { ordering } = await outputFor();
    const key = typeof ordering === 'object' ? ordering.key : () => '';
    expect(key(alert)).toBe(key(resolved));
    expect(key(alert)).not.toBe(key({ ...alert, id: 'another' }));
  });

  it.each([
    ['critical', 'critical'],
    ['high', 'error'],
    ['medium', 'warning'],
    ['low', 'info'],
    ['info', 'info'],
  ])('of severity %s are %s', async (severity, expected) => {
    await attempt(await outputFor(), batchOf({ ...alert, severity }));
    expect(sent()[0]?.event['payload']).toMatchObject({ severity: expected });
  });
});

test('fills the event from the fields that the settings name, and resolves nothing for other records', async () => {
  const settings = {
    alerts_config: { severity: 'level', class: 'event.type', group: 'cluster' },
    summary_config: { alert_summary: 'title', alert_source: 'host' },
  };
  const record = { level: 'WARN', event: { type: 'disk' }, cluster: 7, title: 'Disk full', host: 'db-1' };
  await attempt(await outputFor(configFor(settings)), batchOf(record, { ...record, status: 'RESOLVED' }, {}));
  expect(sent().map(({ event }) => event['payload'])).toMatchObject([
    { summary: 'Disk full', severity: 'warning', source: 'db-1', class: 'disk', group: '7', custom_details: record },
    { summary: 'Disk full' },
    { summary: 'Alert from a pipeline', severity: 'critical', source: 'Connector Frame', custom_details: {} },
  ]);
  expect(new Set(sent().map(({ event }) => event['event_action']))).toEqual(new Set(['trigger']));
  expect(new Set(sent().map(({ event }) => event['dedup_key'])).size).toBe(3);
});

test('uses a severity that the settings give instead of a field', async () => {
  await attempt(await outputFor(configFor({ alerts_config: { severity: 'info' } })), batchOf({}, { info: 'error' }));
  expect(sent().map(({ event }) => event['payload'])).toMatchObject([{ severity: 'info' }, { severity: 'error' }]);
});

test('records changes, which send no page', async () => {
  const settings = {
    default_event_type: 'change',
    summary_config: { change_summary: 'title', change_source: 'repo' },
  };
  await attempt(await outputFor(configFor(settings)), batchOf({ title: 'Deployed', repo: 'web' }, alert, {}));
  expect(sent().map(({ url, event }) => [url, event])).toMatchObject([
    ['/v2/change/enqueue', { payload: { summary: 'Deployed', source: 'web', custom_details: { repo: 'web' } } }],
    ['/v2/change/enqueue', { payload: { summary: 'Errors is firing', source: 'Okta' } }],
    ['/v2/change/enqueue', { payload: { summary: 'Change from a pipeline', source: 'Connector Frame' } }],
  ]);
});

test('sends the API token, if there is one', async () => {
  await attempt(await outputFor(configFor({}, { auth_token: 'canary-token' })), noted(1));
  expect(server?.requests[0]?.headers.authorization).toBe('Token token=canary-token');
});

test('shortens texts to what PagerDuty accepts, and pages without a record that is too large', async () => {
  const settings = { summary_config: { alert_summary: 'title', alert_source: 'title' } };
  const long = { title: `${'x'.repeat(1_022)}😀😀😀` };
  const large = { title: 'Large', blob: 'x'.repeat(510_000) };
  expect(await attempt(await outputFor(configFor(settings)), batchOf(long, large))).not.toHaveProperty('failure');
  const payloads = sent().map(({ event }) => event['payload']);
  expect(payloads).toMatchObject([
    { summary: expect.stringMatching(/^x{1022}…$/) },
    { summary: 'Large', custom_details: { omitted: expect.any(String) } },
  ]);
});

const refuseOne = (request: Received): Reply =>
  request.body.includes('"n":1')
    ? { status: 400, body: { status: 'invalid event', errors: ['no'] } }
    : pagerDuty(request);

test('rejects a record whose event PagerDuty refuses, and writes the others', async () => {
  const { written, rejected } = await attempt(await outputFor(configFor(), refuseOne), noted(3));
  expect([written, rejected.map(({ n }) => n)]).toEqual([[0, 2], [1]]);
});

test('a wrong integration key is a failure of the connector, not of the records', async () => {
  const config = configFor({}, { routing_key: 'x'.repeat(32) });
  const { failure, rejected } = await attempt(await outputFor(config), noted(2));
  expect([failure?.code, failure?.kind, rejected]).toEqual(['invalid_credentials', 'permanent', []]);
});
