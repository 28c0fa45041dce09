import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock, type JsonValue, type Page, type PageInput } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { typeOf } from '../../../../test/support/declared-fields.js';
import {
  eventBridgeEvent,
  parquetFile,
  s3Event,
  TEST_EVENT,
  throughSns,
  type AwsWorld,
} from '../../../../test/support/aws-world.js';
import { startFakeAws, type FakeAws } from '../../../../test/support/fake-aws.js';
import { long } from '../../../../test/support/long.js';
import { startMoto } from '../../../../test/support/moto.js';
import { createAwsObjectsInput } from './index.js';
import { createAwsObjectsTester } from './test-connection.js';

const never = new AbortController().signal;
const egress = createEgress({ allow: ['127.0.0.0/8'] });
const BUCKET = 'acme-logs';

/** Each type's names of the same settings. */
const configOf = (typeId: string, { keys }: AwsWorld, queueUrl: string, changes: object = {}) => ({
  settings: {
    queue_url: queueUrl,
    aws_queue_url: queueUrl,
    queue_name: queueUrl.split('/').at(-1),
    region: 'us-east-1',
    aws_region_name: 'us-east-1',
    format: 'jsonl',
    compression: 'auto',
    cron: '* * * * *',
    ...changes,
  },
  secrets: {
    access_key: keys.accessKeyId,
    secret_key: keys.secretAccessKey,
    aws_access_key: keys.accessKeyId,
    aws_secret_access_key: keys.secretAccessKey,
    aws_secret_key: keys.secretAccessKey,
  },
});

/** Types that have only a role get keys in its place: signing in is tested elsewhere. */
function definitionOf(typeId: string) {
  const type = typeOf(`input:${typeId}`);
  const { aws_objects: definition } = type;
  if (!definition) throw new Error(typeId);
  const {
    region,
    access_key_id: id = '/secrets/access_key',
    secret_access_key: secret = '/secrets/secret_key',
  } = definition.access;
  return { type, definition: { ...definition, access: { region, access_key_id: id, secret_access_key: secret } } };
}

function open(typeId: string, world: AwsWorld, queueUrl: string, changes: object = {}): PageInput {
  const { type, definition } = definitionOf(typeId);
  const input = createAwsObjectsInput(definition, () => world.origin)(configOf(typeId, world, queueUrl, changes), {
    type,
    egress,
    clock: systemClock,
  });
  if (input.kind !== 'pages') throw new Error(input.kind);
  return input;
}

async function read(input: PageInput, cursor?: JsonValue, stopAfter = Number.POSITIVE_INFINITY) {
  const pages: Page[] = [];
  for await (const page of input.pages(cursor, never)) {
    pages.push(JSON.parse(JSON.stringify(page)));
    if (pages.length >= stopAfter) break;
  }
  return {
    records: pages.flatMap(({ records }) => records),
    rejected: pages.flatMap(({ unreadable = [] }) => unreadable.map(({ reason }) => reason)),
    cursor: pages.at(-1)?.cursor ?? cursor,
  };
}

const lines = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** Without `LONG`, only the server that follows the documentation. */
const worlds: [string, () => Promise<AwsWorld>][] = [
  ['as documented', startFakeAws],
  ...(long ? [['moto', startMoto] satisfies [string, () => Promise<AwsWorld>]] : []),
];

describe.each(worlds)('a queue, %s', (_name, start) => {
  let world: AwsWorld;
  beforeAll(async () => {
    world = await start();
  }, 120_000);
  afterAll(() => world.close());

  async function announce(name: string, key: string, content: Uint8Array | string, wrap = (event: string) => event) {
    const queue = await world.createQueue(name);
    await world.put(BUCKET, key, content);
    await world.send(queue, wrap(s3Event({ bucket: BUCKET, key, size: Buffer.byteLength(content) })));
    return queue;
  }

  test('reads the objects that it announces, and deletes the messages once the records are delivered', async () => {
    const key = 'logs/a b+c/ü & (1).json.gz';
    const queue = await announce('objects', key, gzipSync(lines({ n: 1 }, { n: 2 })));
    const left: number[] = [];
    const records: unknown[] = [];
    for await (const page of open('aws-sqs-s3', world, queue, { with_metadata: true }).pages(undefined, never)) {
      records.push(...page.records);
      left.push(await world.left(queue));
    }
    const s3_object = { bucket: BUCKET, key };
    expect(records).toEqual([
      { n: 1, s3_object },
      { n: 2, s3_object },
    ]);
    expect(left).toEqual([1]);
    expect(await world.left(queue)).toBe(0);
  });

  test('reads notifications of SNS and EventBridge, and ignores test events and deleted objects', async () => {
    const queue = await announce('wrapped', 'a.json', lines({ n: 1 }), throughSns);
    const file = { bucket: BUCKET, key: 'b+%20.json', size: 8 };
    await world.put(BUCKET, file.key, lines({ n: 2 }));
    await world.send(queue, eventBridgeEvent(file));
    await world.send(queue, TEST_EVENT);
    await world.send(queue, throughSns(TEST_EVENT));
    await world.send(queue, s3Event({ ...file, key: 'gone.json' }));
    await world.send(queue, s3Event({ ...file, eventName: 'ObjectRemoved:Delete' }));
    const { records, rejected } = await read(open('aws-sqs-s3', world, queue));
    expect(records.map(({ n }) => Number(n)).toSorted((a, b) => a - b)).toEqual([1, 2]);
    expect(rejected).toEqual([]);
    expect(await world.left(queue)).toBe(0);
  });

  test('finds a queue by its name, and reads Parquet', async () => {
    const queue = await announce('parquet', 'ext/acme/region=us-east-1/a.gz.parquet', parquetFile());
    expect((await read(open('aws-security-lake-events', world, queue))).records).toEqual([
      { time: 1_700_000_000_000, activity_name: 'Logon' },
      { time: 1_700_000_000_001 },
    ]);
  });

  test('delivers messages themselves, and those that are no JSON as text', async () => {
    const queue = await world.createQueue('messages');
    await world.send(queue, '{"id":12345678901234567890}');
    await world.send(queue, 'plain text');
    const { records } = await read(open('aws-sqs', world, queue));
    expect(records.toSorted((a, b) => Object.keys(a).join().localeCompare(Object.keys(b).join()))).toEqual([
      { id: '12345678901234567890' },
      { message: 'plain text' },
    ]);
    expect(await world.left(queue)).toBe(0);
  });

  test('tests the connection without receiving a message', async () => {
    const queue = await world.createQueue('checked');
    await world.send(queue, '{}');
    const { type, definition } = definitionOf('aws-sqs');
    const tester = createAwsObjectsTester(type, definition, () => world.origin);
    const outcome = (url: string) => tester(configOf('aws-sqs', world, url), { egress, signal: never });
    expect(await outcome(queue)).toEqual({ ok: true, summary: 'Found the queue: messages are waiting' });
    expect(await outcome(`${queue}-other`)).toMatchObject({
      reason: 'not_found',
      issues: [{ path: '/settings/queue_url' }],
    });
  });
});

describe('formats', () => {
  let world: FakeAws;
  beforeAll(async () => {
    world = await startFakeAws();
  });
  afterAll(() => world.close());

  async function readFile(typeId: string, key: string, content: string) {
    const queue = await world.createQueue(typeId);
    const compressed = gzipSync(content);
    await world.put(BUCKET, key, compressed);
    await world.send(queue, s3Event({ bucket: BUCKET, key, size: compressed.length }));
    return (await read(open(typeId, world, queue))).records;
  }

  /** https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html */
  test('CloudFront', async () => {
    const columns = 'date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer)';
    const row = '2019-12-04 21:02:31 LAX1 392 192.0.2.100 GET d111111abcdef8.cloudfront.net /index.html 200 -';
    const content = `#Version: 1.0\n#Fields: ${columns}\n${row.replaceAll(' ', '\t')}\n`;
    expect(await readFile('aws-cloudfront-logs', 'E2.2019-12-04-21.d111111abcdef8.gz', content)).toEqual([
      {
        date: '2019-12-04',
        time: '21:02:31',
        'x-edge-location': 'LAX1',
        'sc-bytes': '392',
        'c-ip': '192.0.2.100',
        'cs-method': 'GET',
        'cs(Host)': 'd111111abcdef8.cloudfront.net',
        'cs-uri-stem': '/index.html',
        'sc-status': '200',
      },
    ]);
  });

  /** https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-records-examples.html */
  test('VPC flow logs', async () => {
    const header =
      'version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status';
    const content = `${header}\n2 123456789010 eni-1235b8ca123456789 172.31.16.139 172.31.16.21 20641 22 6 20 4249 1418530010 1418530070 ACCEPT OK\n2 123456789010 eni-1235b8ca123456789 - - - - - - - 1431280876 1431280934 - NODATA\n`;
    const [first, second] = await readFile('aws-vpc-flow-logs', 'AWSLogs/1/vpcflowlogs/a.log.gz', content);
    expect(first).toMatchObject({ srcaddr: '172.31.16.139', dstport: '22', action: 'ACCEPT' });
    expect(second).toEqual({
      version: '2',
      'account-id': '123456789010',
      'interface-id': 'eni-1235b8ca123456789',
      start: '1431280876',
      end: '1431280934',
      'log-status': 'NODATA',
    });
  });

  /** https://docs.aws.amazon.com/awscloudtrail/latest/userguide/configure-sns-notifications-for-cloudtrail.html */
  test("CloudTrail's own notifications, which have no size", async () => {
    const queue = await world.createQueue('trail');
    const file = 'AWSLogs/123456789012/CloudTrail/us-east-1/2026/01/01/a.json.gz';
    await world.put(BUCKET, file, gzipSync('{"Records":[{"eventName":"ConsoleLogin"},{"eventName":"GetObject"}]}'));
    const digest = 'AWSLogs/123456789012/CloudTrail-Digest/us-east-1/2026/01/01/b.json.gz';
    await world.send(queue, throughSns(JSON.stringify({ s3Bucket: BUCKET, s3ObjectKey: [file, digest] })));
    const { records } = await read(open('aws-sqs-s3-cloudtrail', world, queue));
    expect(records).toEqual([{ eventName: 'ConsoleLogin' }, { eventName: 'GetObject' }]);
  });

  /** https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-cwe-event-formats.html */
  test('Security Hub', async () => {
    const queue = await world.createQueue('findings');
    const detail = { findings: [{ Id: 'a' }, { Id: 'b' }] };
    const event = {
      version: '0',
      'detail-type': 'Security Hub Findings - Imported',
      source: 'aws.securityhub',
      detail,
    };
    await world.send(queue, JSON.stringify(event));
    await world.send(queue, JSON.stringify({ ...event, detail: {} }));
    const { records, rejected } = await read(open('aws-security-hub-findings', world, queue));
    expect(records).toEqual(detail.findings);
    expect(rejected).toEqual(['unknown_message']);
  });

  /** https://github.com/CrowdStrike/FDR */
  test('Falcon Data Replicator', async () => {
    const queue = await world.createQueue('fdr');
    const files = ['data/1/part-00000.gz', 'data/1/part-00001.gz'].map((path, index) => {
      const content = gzipSync(lines({ event_simpleName: `E${index}` }));
      void world.put(BUCKET, path, content);
      return { path, size: content.length, checksum: `c${index}` };
    });
    const message = { cid: '0', timestamp: 1, fileCount: 2, totalSize: 2, bucket: BUCKET, pathPrefix: 'data/1', files };
    await world.send(queue, JSON.stringify(message));
    const { records } = await read(open('crowdstrike-falcon-data-replicator', world, queue));
    expect(records).toEqual([{ event_simpleName: 'E0' }, { event_simpleName: 'E1' }]);
  });
});

describe('failures', () => {
  let world: FakeAws;
  let queue: string;
  beforeAll(async () => {
    world = await startFakeAws();
  });
  beforeEach(async () => {
    queue = await world.createQueue(`q${Math.random()}`);
    world.denied.clear();
  });
  afterAll(() => world.close());

  async function announce(key: string, content: string): Promise<void> {
    await world.put(BUCKET, key, content);
    await world.send(queue, s3Event({ bucket: BUCKET, key, size: content.length }));
  }

  test('a message that could not be deleted repeats no record', async () => {
    await announce('a.json', lines({ n: 1 }));
    world.failing.push({ action: 'DeleteMessageBatch', code: 'InternalError', status: 500 });
    let cursor: JsonValue | undefined;
    await expect(async () => {
      for await (const page of open('aws-sqs-s3', world, queue).pages(undefined, never)) ({ cursor } = page);
    }).rejects.toMatchObject({ code: 'upstream_error', kind: 'retry' });
    expect(await world.left(queue)).toBe(1);
    world.expire(queue);
    expect((await read(open('aws-sqs-s3', world, queue), cursor)).records).toEqual([]);
    expect(await world.left(queue)).toBe(0);
  });

  test('an object that was read in part continues where it was', async () => {
    const all = Array.from({ length: 2_500 }, (_, n) => ({ n }));
    await announce('large.json', lines(...all));
    const { records: before, cursor } = await read(open('aws-sqs-s3', world, queue), undefined, 2);
    expect(await world.left(queue)).toBe(1);
    world.expire(queue);
    const { records: after } = await read(open('aws-sqs-s3', world, queue), cursor);
    expect(before.length).toBe(2_000);
    expect([...before, ...after].map(({ n }) => n)).toEqual(all.map(({ n }) => n));
  });

  test('a denied object is an error if no other can be read, and else goes to the dead letters', async () => {
    await announce('denied.json', lines({ n: 1 }));
    world.denied.add(`/${BUCKET}/denied.json`);
    const input = open('aws-sqs-s3', world, queue);
    await expect(read(input)).rejects.toMatchObject({ code: 'forbidden', kind: 'permanent' });
    await world.send(queue, TEST_EVENT);
    expect((await read(input)).records).toEqual([]);
    await announce('fine.json', lines({ n: 2 }));
    world.expire(queue);
    expect((await read(input)).records).toEqual([{ n: 2 }]);
    expect(await world.left(queue)).toBe(1);
    world.expire(queue);
    expect((await read(input)).rejected).toEqual(['object_skipped: denied']);
    expect(await world.left(queue)).toBe(0);
  });

  test('a message of another kind, and a damaged object, go to the dead letters', async () => {
    await world.send(queue, '{"hello":"world"}');
    await announce('broken.json.gz', `\u001f\u008bno gzip`);
    const input = open('aws-sqs-s3', world, queue, { compression: 'gzip' });
    expect((await read(input)).rejected).toEqual(['unknown_message']);
    for (const times of [2, 3]) {
      world.expire(queue);
      expect((await read(input)).rejected).toEqual(times === 3 ? ['object_skipped: not_gzip'] : []);
    }
    expect(await world.left(queue)).toBe(0);
  });

  /** The port of this address can't be chosen, so the attacks on all types do not include it. */
  test.each(['127.0.0.1', '169.254.169.254', '2130706433', 'localhost'])('no request goes to %s', async (host) => {
    const url = `https://${host}/123456789012/logs`;
    const guarded = createEgress({ allow: [] });
    const { type, definition } = definitionOf('aws-sqs');
    const config = configOf('aws-sqs', world, url);
    const outcome = await createAwsObjectsTester(type, definition)(config, { egress: guarded, signal: never });
    expect(outcome).toMatchObject({ reason: 'egress_refused' });
  });

  test.each([
    ['QueueDoesNotExist', 400, { code: 'not_found', kind: 'permanent' }],
    ['AccessDeniedException', 400, { code: 'forbidden', kind: 'permanent' }],
    ['RequestThrottled', 403, { code: 'rate_limited', kind: 'throttled' }],
    ['InvalidSignatureException', 403, { code: 'invalid_credentials', kind: 'permanent' }],
    ['InternalFailure', 500, { code: 'upstream_error', kind: 'retry' }],
  ])('%s', async (code, status, expected) => {
    world.failing.push({ action: 'ReceiveMessage', code, status });
    await expect(read(open('aws-sqs', world, queue))).rejects.toMatchObject(expected);
  });
});
