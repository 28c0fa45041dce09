import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock, type DataRecord, type Egress } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { awsRoles } from '../../../../test/support/aws-roles.js';
import type { AwsWorld } from '../../../../test/support/aws-world.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { long } from '../../../../test/support/long.js';
import { startMoto } from '../../../../test/support/moto.js';
import { connectors } from '../index.js';

const real = createEgress({ allow: ['127.0.0.0/8'] });
const never = new AbortController().signal;

/** The documented exchanges of these types are in `test/vendors/inputs`. */
describe.runIf(long)('CloudWatch Logs, of moto', () => {
  let world: AwsWorld;
  let egress: Egress;
  beforeAll(async () => {
    world = await startMoto();
    egress = {
      ...real,
      fetch: (url, init) => real.fetch(String(url).replace('https://logs.us-east-1.amazonaws.com', world.origin), init),
    };
    for (const [group, messages] of [
      ['/aws/lambda/orders', ['one', 'two']],
      ['/aws/eks/prod/cluster', ['{"kind":"Event","verb":"list"}']],
      ['/aws/rds/cluster/prod/audit', ['CONNECT']],
      ['/aws/rds/cluster/prod/error', ['an error']],
    ] as const)
      await fill(group, messages);
  }, 600_000);
  afterAll(() => world.close());

  async function fill(logGroupName: string, messages: readonly string[]): Promise<void> {
    const where = { logGroupName, logStreamName: 'kube-apiserver-audit-0a1b' };
    const timestamp = Date.now() - 60_000;
    await world.call?.('Logs_20140328.CreateLogGroup', { logGroupName });
    await world.call?.('Logs_20140328.CreateLogStream', where);
    const logEvents = messages.map((message, index) => ({ message, timestamp: timestamp + index }));
    await world.call?.('Logs_20140328.PutLogEvents', { ...where, logEvents });
  }

  async function readAll(typeId: string, settings: object): Promise<DataRecord[]> {
    const type = typeOf(`input:${typeId}`);
    const start = { backfill_start_time: new Date(Date.now() - 3_600_000).toISOString() };
    const role = 'arn:aws:iam::123456789012:role/LogReader';
    const config = { settings: { region: 'us-east-1', role_arn: role, ...start, ...settings }, secrets: {} };
    const { testConnection, createInput } = connectors(type);
    expect(await testConnection?.(config, { egress, aws: awsRoles, signal: never })).toMatchObject({ ok: true });
    const input = createInput?.(config, { type, egress, aws: awsRoles, clock: systemClock });
    const records: DataRecord[] = [];
    if (input?.kind === 'pages') for await (const page of input.pages(undefined, never)) records.push(...page.records);
    return records;
  }

  test('reads groups by their names', async () => {
    const records = await readAll('aws-cloudwatch-logs', { log_group_names: ['/aws/lambda/orders'] });
    expect(new Set(records.map(({ message }) => message))).toEqual(new Set(['one', 'two']));
    expect(records).toHaveLength(2);
  });

  test('reads the audit log of a cluster', async () => {
    const [record] = await readAll('aws-eks-audit-logs', { cluster_name: 'prod', usesStaticCreds: false });
    expect(record?.['message']).toEqual({ kind: 'Event', verb: 'list' });
  });

  test('finds the audit logs of databases', async () => {
    const records = await readAll('aws-rds-audit-logs', {});
    expect(records.map(({ message }) => message)).toEqual(['CONNECT']);
  });
});
