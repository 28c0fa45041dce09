import { systemClock, type DataRecord, type Egress } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { startKafkaBroker, type KafkaBroker } from '../../../../test/support/kafka-broker.js';
import { kcat, startKafka } from '../../../../test/support/kafka.js';
import { KafkaClient } from '../kafka/client.js';
import type { InputSettings } from '../kafka/config.js';
import { createGroupInput } from '../kafka/input.js';
import { chooseStart } from '../kafka/positions.js';
import { readRecordFields } from '../kafka/to-record.js';
import { readSettings, readTarget } from './target.js';

const TENANT = '8d5f0c1e-4b7a-4c1d-9a52-6f3e2d1c0b9a';
const HOST = 'acme-security.servicebus.windows.net';
const config = {
  settings: { event_hub_namespace: 'acme-security', event_hub_name: 'activity-logs', tenant_id: TENANT },
  secrets: { client_id: '11111111-2222-4333-8444-555555555555', client_secret: '7nG8Q~canary-value' },
};

describe('signing in', () => {
  let broker: KafkaBroker;
  let egress: Egress;
  let cert: string;
  let answer: () => Response;
  const asked: unknown[] = [];
  beforeAll(async () => {
    const tls = createCertificate(HOST);
    ({ cert } = tls);
    broker = await startKafkaBroker({
      tls,
      topics: { 'activity-logs': 4 },
      tokens: ['entra-token'],
      advertise: { host: HOST, port: 9093 },
    });
    const real = createEgress({ allow: ['127.0.0.0/8'] });
    egress = {
      fetch(address, init) {
        asked.push([String(address), Object.fromEntries(new URLSearchParams(String(init?.body)))]);
        return Promise.resolve(answer());
      },
      connect(target) {
        if (target.host !== HOST || target.port !== 9093)
          throw new Error(`${target.host}:${target.port} is not expected`);
        return real.connect({ ...target, host: '127.0.0.1', port: broker.port });
      },
    };
  });
  afterAll(() => broker.close());

  /** Signs in as the input does, with a certificate that the test trusts. */
  async function partitions(): Promise<number> {
    const target = readTarget(config, egress);
    const signal = AbortSignal.timeout(10_000);
    await target.prepare?.(signal);
    const client = new KafkaClient({ ...target, tls: { ca: cert } }, egress, { requestTimeout: 5_000, retries: 0 });
    const admin = client.kafka.admin();
    try {
      await admin.connect();
      return (await admin.fetchTopicOffsets('activity-logs')).length;
    } catch (error) {
      throw client.explain(error);
    } finally {
      await client.close(() => admin.disconnect());
    }
  }

  // RFC 7628 and RFC 6749. https://learn.microsoft.com/azure/event-hubs/authenticate-application
  test('sends the token of Entra with OAUTHBEARER, over TLS', async () => {
    answer = () => Response.json({ access_token: 'entra-token', expires_in: 3599, token_type: 'Bearer' });
    expect(await partitions()).toBe(4);
    expect(asked).toEqual([
      [
        `https://login.microsoftonline.com/${TENANT}/oauth2/v2.0/token`,
        { grant_type: 'client_credentials', scope: `https://${HOST}/.default`, ...config.secrets },
      ],
    ]);
  });

  test('reports a token that Event Hubs refuses, and an app that Entra refuses', async () => {
    answer = () => Response.json({ access_token: 'other', expires_in: 3599 });
    await expect(partitions()).rejects.toMatchObject({ code: 'invalid_credentials', kind: 'permanent' });
    answer = () => Response.json({ error: 'invalid_client' }, { status: 401 });
    await expect(partitions()).rejects.toMatchObject({ code: 'invalid_credentials', kind: 'permanent' });
  });
});

// librdkafka's mock cluster does not look up offsets by time.
test('begins with the first message since the time to start at', () => {
  const bounds = { low: '5', high: '90', since: '42' };
  expect(chooseStart(undefined, undefined, bounds, 'since', false)).toBe('42');
  expect(chooseStart(undefined, undefined, { ...bounds, since: undefined }, 'since', false)).toBe('90');
  expect(chooseStart(undefined, '50', bounds, 'since', true)).toBe('50');
  expect(chooseStart(undefined, undefined, bounds, 'since', true)).toBe('5');
  expect(readSettings({ ...config, settings: { ...config.settings, lookback_duration: 0 } }).lookback).toBe(0);
  expect(readSettings(config).lookback).toBe(3_600_000);
});

test('delivers each record of a message', async () => {
  const cluster = await startKafka();
  try {
    for (const line of ['{"records":[{"n":0},{"n":1}]}', '{"n":2}'])
      await kcat(cluster.brokers, ['-P', '-t', 'activity-logs', '-p', '0'], line);
    const settings: InputSettings = { ...readSettings(config), groupId: 'g-1', fetchWait: 50, startAt: 'smallest' };
    const input = createGroupInput(
      {
        target: { brokers: cluster.brokers.split(',') },
        settings,
        names: { ...readRecordFields({}), location: 'records' },
      },
      { egress: createEgress({ allow: ['127.0.0.0/8'] }), clock: systemClock },
    );
    const records: DataRecord[] = [];
    for await (const page of input.pages(undefined, AbortSignal.timeout(30_000))) {
      records.push(...page.records);
      if (records.length >= 3) break;
    }
    expect(records).toEqual([
      expect.objectContaining({ n: 0, topic: 'activity-logs', partition: 0, offset: 0 }),
      expect.objectContaining({ n: 1, offset: 0 }),
      expect.objectContaining({ n: 2, offset: 1 }),
    ]);
  } finally {
    await cluster.close();
  }
});
