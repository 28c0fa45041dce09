import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEgress } from '@connector-frame/engine/egress';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { codeOf, makeFolder } from '../../../../test/support/guides.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import type { Database } from '../store/database.js';
import { createUsageEvents, type UsageEvents } from '../store/usage-events.js';
import { createUsageWriter } from '../store/usage-writer.js';
import { HOUR, MINUTE, minuteOf } from './periods.js';
import { noAmounts } from './usage-segment.js';
import { createUsageWebhook, dueAt } from './usage-webhook.js';

const SECRET = Buffer.from('a secret of the host, with 32 by');
const START = Date.now() - (Date.now() % HOUR) - 3 * HOUR;

/** Signatures are verified by the reference implementation of Standard Webhooks. */
const verify = ({ body, headers }: Received): unknown =>
  new Webhook(SECRET.toString('base64')).verify(
    body,
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  );

describe('the usage webhook', () => {
  const databases = anyDatabase();
  let database: Database;
  let receiver: Vendor;
  let respond: (request: Received, attempt: number) => Reply;
  let now: number;
  let sequence = 0;
  const lines: string[] = [];

  beforeAll(async () => {
    database = await databases.open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    respond = () => ({});
    receiver = await startVendor((request) => respond(request, receiver.requests.length));
    now = START;
    lines.length = 0;
    await database.script((run) => run('truncate usage_series, usage_counts, usage_days, usage_events cascade'));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    return receiver.close();
  });

  /** Stores what an input has received, and its output delivered. */
  const use = (bytes: number, { pipelineId = 'p', at = now } = {}) =>
    createUsageWriter(database).add({
      holder: 'engine',
      sequence: (sequence += 1),
      at: new Date(now),
      rows: (['input', 'output'] as const).map((componentType) => ({
        node: {
          organizationId: 'org',
          parentId: 'parent',
          pipelineId,
          nodeId: componentType,
          componentType,
          componentId: `a ${componentType}`,
          type: componentType === 'input' ? 'monad-http' : 's3',
          inputId: 'a input',
        },
        minute: minuteOf(at),
        amounts:
          componentType === 'input'
            ? { ...noAmounts(), ingressBytes: bytes, ingressRecords: 1 }
            : {
                ...noAmounts(),
                egressBytes: Math.floor(bytes / 2),
                egressRecords: 1,
                unfilteredBytes: bytes,
                errors: 1,
              },
      })),
      dueAt,
    });
  const open = (events: UsageEvents = createUsageEvents(database.queries), allow = ['127.0.0.1/32']) =>
    createUsageWebhook({
      url: `${receiver.origin}/usage?of=frame`,
      secret: SECRET,
      events,
      egress: createEgress({ allow }),
      now: () => now,
      signal: new AbortController().signal,
      log: pino({}, { write: (line: string) => void lines.push(line) }),
    });
  const waiting = async () =>
    (await database.script((run) => run('select 1 from usage_events where next_attempt_at is not null'))).length;

  it('sends an hour once it is complete, signed, with a key of its organization, pipeline and hour', async () => {
    const send = open();
    await use(100);
    now += 59 * MINUTE;
    await use(20);
    await send();
    expect(receiver.requests).toEqual([]);
    now += 2 * MINUTE;
    await send();
    await send();
    await send();
    expect(receiver.requests).toHaveLength(1);
    const [request] = receiver.requests;
    if (!request) throw new Error('nothing');
    const hour = new Date(START).toISOString();
    const key = `usage_org_p_${hour.slice(0, 13)}`;
    expect(request).toMatchObject({
      method: 'POST',
      url: '/usage?of=frame',
      headers: { 'content-type': 'application/json', 'idempotency-key': key, 'webhook-id': key },
    });
    now = Date.now();
    expect(() => verify({ ...request, body: `${request.body} ` })).toThrow();
    const signed = JSON.parse(request.body);
    expect(signed).toEqual({
      type: 'usage.hour',
      timestamp: hour,
      data: {
        idempotency_key: key,
        organization_id: 'org',
        parent_organization_id: 'parent',
        pipeline_id: 'p',
        start: hour,
        end: new Date(START + HOUR).toISOString(),
        revision: 1,
        ingress: { bytes: 120, records: 2 },
        egress: { bytes: 60, records: 2 },
        errors: 2,
        total: { ingress: { bytes: 120, records: 2 }, egress: { bytes: 60, records: 2 }, errors: 2 },
        nodes: [
          expect.objectContaining({ node_id: 'input', type: 'monad-http', ingress: { bytes: 120, records: 2 } }),
          expect.objectContaining({ node_id: 'output', type: 's3', unfiltered: { bytes: 120, records: 0 } }),
        ],
      },
    });
    expect(await waiting()).toBe(0);
  });

  it('is received by the code of the guide, which the reference implementation verifies', async () => {
    await use(100, { at: Date.now() - 2 * HOUR });
    now = Date.now();
    await open()();
    const [request] = receiver.requests;
    if (!request) throw new Error('nothing');
    expect(verify(request)).toMatchObject({ type: 'usage.hour', data: { organization_id: 'org' } });

    const folder = await makeFolder();
    onTestFinished(() => folder.remove());
    vi.stubEnv('USAGE_WEBHOOK_SECRET', `whsec_${SECRET.toString('base64')}`);
    const file = join(folder.path, 'receive-usage.js');
    await writeFile(file, await codeOf('usage-and-billing', 'receive-usage.js'));
    const { receiveUsage }: Record<string, unknown> = await import(file);
    if (!isReceiver(receiveUsage)) throw new Error('The code does not export receiveUsage.');
    const received = new Map<string, unknown>();
    await receiveUsage(request.headers, request.body, (key, data) => void received.set(key, data));
    expect([...received]).toEqual([[request.headers['idempotency-key'], JSON.parse(request.body).data]]);
    await expect(receiveUsage(request.headers, `${request.body} `, () => undefined)).rejects.toThrow('signature');
  });

  it('repeats the same request until it is acknowledged, and waits as the receiver asks', async () => {
    const replies: Reply[] = [
      { fault: 'drop' },
      { status: 500 },
      { status: 429, headers: { 'retry-after': '900' } },
      { status: 302, headers: { location: 'https://elsewhere.example/' } },
      {},
    ];
    respond = (_request, attempt) => replies[attempt - 1] ?? {};
    const send = open();
    await use(100);
    now += HOUR + MINUTE;
    for (let count = 1; count <= 2; count += 1) {
      await send();
      await send();
      // The retry has the same body, without usage added since.
      await use(1, { at: START });
      now += 10 * MINUTE;
    }
    await send();
    now += 10 * MINUTE;
    await send();
    // Not before the 15 minutes that it has asked for.
    expect(receiver.requests).toHaveLength(3);
    for (const _ of [1, 2, 3, 4]) {
      now += HOUR;
      await send();
    }
    const [first, ...others] = receiver.requests.slice(0, 5);
    for (const { body, headers } of others)
      expect([body, headers['idempotency-key']]).toEqual([first?.body, first?.headers['idempotency-key']]);
    // Then the difference, under another key.
    const { data } = JSON.parse(receiver.requests[5]?.body ?? '');
    expect(data).toMatchObject({
      idempotency_key: `${String(first?.headers['idempotency-key'])}_r2`,
      revision: 2,
      ingress: { bytes: 2, records: 2 },
      total: { ingress: { bytes: 102, records: 3 } },
    });
    expect([receiver.requests.length, await waiting()]).toEqual([6, 0]);
    expect(lines.filter((line) => line.includes('usage webhook failed'))).toHaveLength(1);
    expect(lines.join('')).toContain('usage webhook responds again');
  });

  it('sends the same again if the process ends before it has noted the acknowledgment', async () => {
    const events = createUsageEvents(database.queries);
    const killed: UsageEvents = { ...events, acknowledge: () => Promise.reject(new Error('killed')) };
    await use(100);
    now += HOUR + MINUTE;
    await expect(open(killed)()).rejects.toThrow('killed');
    await use(5, { at: START });
    for (let round = 0; round < 4; round += 1) await open()();
    const bodies = receiver.requests.map(({ body }) => JSON.parse(body).data);
    expect(bodies.map(({ idempotency_key: key, ingress }) => [key.slice(-3), ingress.bytes])).toEqual([
      [bodies[0].idempotency_key.slice(-3), 100],
      [bodies[0].idempotency_key.slice(-3), 100],
      ['_r2', 5],
    ]);
    // A host that ignores keys it knows gets every byte once.
    const byKey = new Map(bodies.map(({ idempotency_key: key, ingress }) => [key, ingress.bytes]));
    expect([...byKey.values()].reduce((sum, bytes) => sum + bytes, 0)).toBe(105);
  });

  it('is not blocked by events that the receiver rejects', async () => {
    respond = ({ body }) => ({ status: JSON.parse(body).data.pipeline_id === 'p7' ? 400 : 204 });
    for (let n = 0; n < 20; n += 1) await use(100, { pipelineId: `p${n}` });
    now += HOUR + MINUTE;
    const send = open();
    for (let round = 0; round < 4; round += 1) await send();
    expect(await waiting()).toBe(1);
    const keys = receiver.requests.map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size]).toEqual([20, 20]);
    // Retried, at growing intervals.
    for (let minutes = 0; minutes < 60; minutes += 1) {
      now += MINUTE;
      await send();
    }
    expect(receiver.requests.length).toBeGreaterThan(24);
    expect(receiver.requests.length).toBeLessThan(30);
  });

  it('reaches no address that the operator keeps closed', async () => {
    await use(100);
    now += HOUR + MINUTE;
    await open(undefined, [])();
    expect([receiver.requests.length, await waiting()]).toEqual([0, 1]);
    expect(lines.join('')).toContain('egress_refused');
    now += HOUR;
    await open()();
    expect(receiver.requests).toHaveLength(1);
  });
});

type ReceiveUsage = (
  headers: Received['headers'],
  body: string,
  add: (key: string, data: unknown) => void,
) => Promise<void>;
const isReceiver = (value: unknown): value is ReceiveUsage => typeof value === 'function';
