import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEgress, type Egress } from '@connector-frame/engine/egress';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  ANY_ERROR,
  clientOf,
  openAlertWorld,
  type AlertShape,
  type AlertWorld,
} from '../../../../test/support/alert-world.js';
import { connect, postgresql } from '../../../../test/support/databases.js';
import { freePort } from '../../../../test/support/free-port.js';
import { codeOf } from '../../../../test/support/guides.js';
import { readLogs } from '../../../../test/support/log-reader.js';
import { createTestService, type TestService } from '../../../../test/support/service.js';
import { startMailServer, type ReceivedMail } from '../../../../test/support/smtp-server.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { PAGERDUTY_KEY, pagerDuty } from '../../../../test/support/vendors/pagerduty.js';
import { createReportedEngine } from '../pipelines/running/reported-engine.js';
import { createEngineLeases } from '../store/engine-leases.js';
import { createEngineState } from '../store/engine-state.js';

type EventShape = AlertShape & { event: string };

const MINUTE = 60_000;

/** Servers of this machine in place of public ones, by their origins. */
const redirects = new Map<string, Vendor>();
const guarded = createEgress({ allow: ['127.0.0.0/8'] });
const egress: Egress = {
  ...guarded,
  fetch(address, init) {
    const { origin, pathname, search } = new URL(address);
    return guarded.fetch(`${redirects.get(origin)?.origin ?? origin}${pathname}${search}`, init);
  },
};

/** Starts an HTTP server, and stops it when the test ends. */
async function vendor(respond: (request: Received) => Reply = () => ({ body: {} })): Promise<Vendor> {
  const server = await startVendor(respond);
  onTestFinished(() => server.close());
  return server;
}
const httpOutput = ({ origin }: Vendor) => ({
  type: 'http',
  config: { settings: { endpoint: `${origin}/records`, method: 'POST', payload_structure: 'array' } },
});
/** The records that a webhook received, in order. */
const recordsOf = ({ requests }: Vendor): EventShape[] =>
  requests.flatMap(({ body }): EventShape[] => JSON.parse(body));
const bodiesOf = ({ requests }: Vendor): Record<string, unknown>[] =>
  requests.map(({ body }): Record<string, unknown> => JSON.parse(body));
const eventsOf = (records: readonly EventShape[]) => records.map(({ event }) => event);
/** The records in messages. */
const recordsIn = (mails: readonly ReceivedMail[]): EventShape[] =>
  mails.flatMap(({ mail }) =>
    (mail.text ?? '').split(/\n-{60}\n/).map((part): EventShape => JSON.parse(part.slice(part.indexOf('{')))),
  );

describe('delivery of alerts on PostgreSQL', () => {
  const databases = postgresql();
  let folder: string;
  let world: AlertWorld;
  let replica: TestService;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'alerts-'));
    const database = await databases.open();
    world = await openAlertWorld({ database, folder, egress, run: { alertReminderMs: 5 * MINUTE } });
    const { connectionString = '' } = database.pool?.options ?? {};
    const shared = connect(connectionString);
    replica = await createTestService({
      database: shared,
      master: world.service.master,
      clock: { now: () => world.clock.now(), elapsed: () => world.clock.now(), advance: () => undefined },
      // A replica that runs no pipelines.
      engine: createReportedEngine({
        state: createEngineState(shared.queries),
        leases: createEngineLeases(shared.queries),
        clock: world.clock,
        notify: () => undefined,
        notifyRules: () => undefined,
      }),
    });
  });
  afterAll(async () => {
    await replica.close();
    await world.close();
    await databases.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Ends the engine as at a shutdown, and continues with its folder and database in another one. */
  async function restart(): Promise<void> {
    const before = world;
    const { connectionString = '' } = before.service.database.pool?.options ?? {};
    await before.close();
    world = await openAlertWorld({
      database: connect(connectionString),
      folder,
      egress,
      clock: before.clock,
      master: before.service.master,
      run: { alertReminderMs: 5 * MINUTE },
    });
  }

  it('arrives once per event at a webhook and a mail server that was down, over a restart and with two replicas', async () => {
    const tenant = await world.service.tenant('Delivering');
    const client = () => clientOf(world, tenant);
    const other = clientOf({ service: replica }, tenant);
    let accepts = false;
    const source = await client().build(httpOutput(await vendor(() => ({ status: accepts ? 200 : 400, body: {} }))));
    const webhook = await vendor();
    await client().build(httpOutput(webhook), 'monad-alerts', 'To the webhook');
    const port = await freePort();
    const settings = { host: '127.0.0.1', port, from: 'alerts@acme.example', to: ['soc@acme.example'] };
    await client().build({ type: 'email-smtp', config: { settings } }, 'monad-alerts', 'By mail');
    const path = `/v3/${tenant.team}/alerts/stream?last=1h`;
    const stream = readLogs<EventShape>(
      () => replica.app,
      path,
      tenant.key,
      () => 2,
    );
    onTestFinished(() => stream.stop());

    // The other replica creates the rule.
    const pipeline_ids = [source.pipeline];
    const ruleId = await other.rule('threshold-alert', ANY_ERROR, { name: 'Errors', pipeline_ids });
    await world.step(2);
    await world.service.engine?.append(
      source.input,
      Array.from({ length: 300 }, (_, n) => `{"n":${n}}`),
    );
    const firing = await world.until(async () => (await client().alerts())[0]);
    await world.until(async () => webhook.requests.length === 1);

    await restart();
    await world.until(async () => (await client().alerts())[0]?.fired_at !== firing.fired_at);
    accepts = true;
    await client().must('POST', `/v1/~/pipelines/${source.pipeline}/retry`);
    const resolved = await world.until(async () =>
      (await client().alerts()).find((a) => a.status.state === 'RESOLVED'),
    );
    const mailServer = await startMailServer({ port });
    onTestFinished(() => mailServer.close());
    // A session with the server takes longer than a step.
    const isThere = async () => recordsIn(mailServer.received).some(({ event }) => event === 'resolved');
    await world.until(isThere, { settleMs: 500 });
    await world.step(3);

    const records = recordsOf(webhook);
    const reminders = records.filter(({ event }) => event === 'reminded');
    expect(reminders.length).toBeGreaterThan(0);
    expect(eventsOf(records)).toEqual(['fired', ...reminders.map(() => 'reminded'), 'resolved']);
    expect(recordsIn(mailServer.received)).toEqual(records);
    await expect.poll(() => stream.entries).toEqual(records);
    for (const { id, created_at, rule_id, resource } of records)
      expect([id, created_at, rule_id, resource]).toEqual([
        firing.id,
        firing.created_at,
        ruleId,
        { resource_type: 'pipeline', resource_id: source.pipeline },
      ]);
    expect(records.at(-1)).toMatchObject({ status: resolved.status, fired_at: reminders.at(-1)?.fired_at });
    // One request per event: the key of a repeated one would be the same.
    const keys = webhook.requests.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(keys.length);
  }, 120_000);

  const SILENT = {
    metric_config: { type: 'records', records: { direction: 'ingress', threshold: 1 } },
    operator: 'less_than',
    time_window: '30s',
  };

  it('begins with the alerts that are firing, and leaves out those about the pipeline itself', async () => {
    const client = clientOf(world, await world.service.tenant('Beginning'));
    const silent = await client.build({ type: 'dev-null' });
    const gone = await client.build({ type: 'dev-null' });
    await client.rule('threshold-alert', SILENT, { name: 'silent' });
    await world.until(async () => (await client.alerts()).length === 2);
    await client.must('DELETE', `/v2/~/pipelines/${gone.pipeline}`);
    await world.until(async () => (await client.alerts()).some(({ status }) => status.state === 'RESOLVED'));

    const [one, two] = [await vendor(), await vendor()];
    const first = await client.build(httpOutput(one), 'monad-alerts', 'One');
    const second = await client.build(httpOutput(two), 'monad-alerts', 'Two');
    await expect.poll(() => [recordsOf(one).length, recordsOf(two).length]).toEqual([1, 1]);
    expect(recordsOf(one)[0]?.resource.resource_id).toBe(silent.pipeline);
    // Pipelines that deliver alerts are silent most of the time, so only a rule that names them is about it.
    await world.step(8);
    expect(await client.alerts()).toHaveLength(2);
    const own = { name: 'own', pipeline_ids: [first.pipeline, second.pipeline] };
    await client.rule('threshold-alert', SILENT, own);
    await world.until(async () => recordsOf(one).length > 1 && recordsOf(two).length > 1);
    const about = (server: Vendor) => [
      ...new Set(
        recordsOf(server)
          .slice(1)
          .map(({ resource }) => resource.resource_id),
      ),
    ];
    expect([about(one), about(two)]).toEqual([[second.pipeline], [first.pipeline]]);
  }, 60_000);

  it('arrives after a pause of the pipeline, at a webhook, Slack and PagerDuty', async () => {
    const client = clientOf(world, await world.service.tenant('Pausing'));
    const source = await client.build({ type: 'dev-null' });
    const webhook = await vendor();
    const slack = await vendor(() => ({ body: 'ok' }));
    const pager = await vendor(pagerDuty);
    redirects.set('https://hooks.slack.com', slack).set('https://events.pagerduty.com', pager);
    const { pipeline } = await client.build(httpOutput(webhook), 'monad-alerts', 'To all');
    await client.addOutput(pipeline, {
      type: 'slack',
      config: {
        settings: { auth_config: { type: 'webhook' }, message_template: await codeOf('alerts', 'slack.txt') },
        secrets: { webhook_url: { value: 'https://hooks.slack.com/services/T0/B0/x' } },
      },
    });
    await client.addOutput(pipeline, {
      type: 'pagerduty',
      config: {
        settings: { default_event_type: 'alert' },
        secrets: { routing_key: { value: PAGERDUTY_KEY } },
      },
    });
    await client.must('PATCH', `/v1/~/pipelines/${pipeline}`, { enabled: false });
    const rule = await client.rule('threshold-alert', SILENT, { name: 'Silent', pipeline_ids: [source.pipeline] });
    const [fired] = await world.until(async () => {
      const alerts = await client.alerts();
      return alerts.length === 1 && alerts;
    });
    await client.must('DELETE', `/v3/~/alert_rules/${rule}`);
    await world.until(async () => (await client.alerts())[0]?.status.state === 'RESOLVED');
    expect([webhook, slack, pager].map(({ requests }) => requests.length)).toEqual([0, 0, 0]);
    await client.must('PATCH', `/v1/~/pipelines/${pipeline}`, { enabled: true });
    const all = async () => recordsOf(webhook).length >= 2 && slack.requests.length >= 2 && pager.requests.length >= 2;
    await world.until(all, { settleMs: 100 });
    await world.step(3);
    expect(eventsOf(recordsOf(webhook))).toEqual(['fired', 'resolved']);
    expect(bodiesOf(slack).map(({ text }) => String(text).split('\n')[0])).toEqual([
      '*fired: Silent* (high)',
      '*resolved: Silent* (high)',
    ]);
    expect(bodiesOf(pager).map(({ event_action, dedup_key }) => [event_action, dedup_key])).toEqual([
      ['trigger', fired?.id],
      ['resolve', fired?.id],
    ]);
  }, 60_000);
});
