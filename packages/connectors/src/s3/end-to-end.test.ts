import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUCKET_KEYS, problem, startFakeBucket } from '../../../../test/support/fake-bucket.js';
import { createFileOutput } from '../file/file-output.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, systemClock } from '@connector-frame/engine/connector-api';
import { Collector, graph, numbered, numbersUpTo, openWorld } from '@connector-frame/engine/testing';
import { codes, fast, push, status } from '../../../../test/support/pipeline-parts.js';
import { openInput, openOutput } from '../../../../test/support/s3-connectors.js';
import { BucketClient } from './client.js';
import { awsEndpoint } from '../_shared/aws/endpoint.js';
import { storage } from './config.js';

const YEAR_2020 = '2020-01-01T00:00:00Z';
const JSON_LINES = { Format: 'json', json_format: { type: 'line' } };
const definition = graph('in out', 'in>out');
const never = new AbortController().signal;

describe('with s3rver', () => {
  const secrets = { access_key: 'S3RVER', secret_key: 'S3RVER' };
  let folder: string;
  let server: S3rver;
  let endpoint: string;
  let client: BucketClient;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 's3rver-'));
    server = new S3rver({
      port: 0,
      address: '127.0.0.1',
      silent: true,
      directory: folder,
      configureBuckets: [{ name: 'logs', configs: [] }],
    });
    endpoint = `http://127.0.0.1:${(await server.run()).port}`;
    const config = { settings: { endpoint, bucket: 'logs', use_path_style: true }, secrets };
    const egress = createEgress({ allow: ['127.0.0.0/8'] });
    client = new BucketClient({ config, egress, clock: systemClock, subject: storage, endpoint: awsEndpoint });
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function keysBelow(prefix: string): Promise<string[]> {
    const answer = await client.send('GET', `?list-type=2&prefix=${prefix}`, [200], { signal: never });
    if ('isError' in answer) throw new Error(answer.body);
    return [...(await answer.text()).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key);
  }
  async function bodyOf(key: string): Promise<Uint8Array> {
    const answer = await client.send('GET', `/${key}`, [200], { signal: never, maxBytes: 10_000_000 });
    if ('isError' in answer) throw new Error(answer.body);
    return new Uint8Array(await answer.arrayBuffer());
  }

  test('writes and reads synthetic records: every record once', async () => {
    const [from, to] = [await openWorld(), await openWorld()];
    const prefix = 'there and back';
    const settings = { endpoint, prefix, partition_format: 'simple date', compression: 'gzip' };
    const batch_config = { batch_record_count: 1_500 };
    const writing = from.runner({
      definition,
      inputs: { in: fast(5_000) },
      outputs: { out: openOutput({ ...settings, format_config: JSON_LINES, batch_config }, secrets) },
      // A pause waits for the write: an abandoned one would be repeated and counted twice.
      limits: { grace: 30_000 },
    });
    await writing.start();
    await expect.poll(async () => (await writing.state()).egress.records).toBeGreaterThan(1_500);
    await writing.pause();
    await writing.resume();
    await expect
      .poll(async () => (await writing.state()).nodes.find((node) => node.node_id === 'out')?.ingress.records)
      .toBe(5_000);
    await writing.pause();
    expect((await writing.state()).egress.records).toBe(5_000);
    const keys = await keysBelow(encodeURIComponent(prefix));
    expect(keys.length).toBeLessThan(8);
    for (const key of keys) expect(key).toMatch(/^there and back\/\d{4}\/\d{2}\/\d{2}\/records-[\w-]{22}\.json\.gz$/);

    const path = join(to.folder, 'events.ndjson');
    const reading = to.runner({
      definition,
      inputs: { in: openInput({ ...settings, format: 'jsonl', backfill_start_time: YEAR_2020 }, secrets) },
      outputs: { out: createFileOutput({ path }) },
    });
    await reading.start();
    await expect.poll(async () => (await reading.state()).egress.records).toBe(5_000);
    const text = await readFile(path, 'utf8');
    const numbers = text
      .trim()
      .split('\n')
      .map((line) => Number(/"n":(\d+)/.exec(line)?.[1]));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbersUpTo(5_000));
    expect(await status(reading)).toBe('Running');
  });

  test('writes pushed records as Parquet in the folder of their day', async () => {
    const world = await openWorld();
    const runner = world.runner({
      definition,
      inputs: { in: push },
      outputs: {
        out: openOutput(
          {
            endpoint,
            prefix: 'parquet',
            partition_format: 'flat hive compliant',
            format_config: { Format: 'parquet', parquet_format: {} },
            compression: 'gzip',
          },
          secrets,
        ),
      },
      // A pause waits for the write.
      limits: { grace: 30_000 },
    });
    await runner.start();
    for (let n = 0; n < 1_200; n += 300) await runner.sink.append(numbered(300, n));
    await expect
      .poll(async () => (await runner.state()).nodes.find((node) => node.node_id === 'out')?.ingress.records)
      .toBe(1_200);
    await runner.pause();
    const [key = '', ...others] = await keysBelow('parquet');
    expect(others).toEqual([]);
    expect(key).toMatch(/^parquet\/dt=\d{4}-\d{2}-\d{2}\/\d{8}T\d{6}Z-[\w-]{22}\.parquet$/);
    const compressors = { GZIP: (bytes: Uint8Array) => new Uint8Array(gunzipSync(bytes)) };
    const rows = await parquetReadObjects({ file: (await bodyOf(key)).slice().buffer, compressors });
    expect(rows).toEqual(numbersUpTo(1_200).map((n) => ({ n: BigInt(n) })));
  });

  test('a redelivered batch overwrites its object', async () => {
    const output = openOutput({ endpoint, prefix: 'twice', format_config: JSON_LINES }, secrets);
    await output.open?.(never);
    const batch = createBatch('same', numbered(3));
    for (let time = 0; time < 2; time += 1) await output.write(batch, never);
    expect(await keysBelow('twice')).toEqual(['twice/records-same.json.gz']);
  });
});

describe('end to end, with failures', () => {
  test('throttling and a failure after a write cause no loss and no duplicates', async () => {
    const bucket = await startFakeBucket();
    const world = await openWorld();
    let puts = 0;
    bucket.intercept = ({ method, key, body }) => {
      if (method !== 'PUT') return undefined;
      puts += 1;
      if (puts === 1) return problem(503, 'SlowDown');
      // Store the object, but respond with an error.
      if (puts === 2) bucket.put(key, body);
      return puts < 4 ? problem(500, 'InternalError') : undefined;
    };
    const settings = { endpoint: bucket.origin, format_config: JSON_LINES, batch_config: { batch_record_count: 200 } };
    const outputs = (): Record<string, ReturnType<typeof openOutput>> => ({ out: openOutput(settings, BUCKET_KEYS) });
    const first = world.runner({ definition, inputs: { in: push }, outputs: outputs() });
    await first.start();
    for (let n = 0; n < 600; n += 100) await first.sink.append(numbered(100, n));
    await expect.poll(() => puts).toBeGreaterThan(1);
    // Another process takes over the unfinished work of the first one.
    await first.stop();
    const second = world.runner({ definition, inputs: { in: push }, outputs: outputs() });
    await second.start();
    await expect.poll(async () => (await world.bus.stats('p.in')).records).toBe(0);
    const records = [...bucket.objects.values()].flatMap(({ body }) => gunzipSync(body).toString().trim().split('\n'));
    expect(records.map((line): unknown => JSON.parse(line)).length).toBe(600);
    expect(new Set(records).size).toBe(600);
    await second.stop();
    await bucket.close();
  });

  test('delivers the good objects, and reports a bad one in the log and dead letters', async () => {
    const bucket = await startFakeBucket();
    const world = await openWorld();
    const out = new Collector();
    const then = Date.now() - 60_000;
    bucket.put('a', `${numbered(2).join('\n')}\nnonsense\n`, then);
    bucket.put('b', Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]), then + 1_000);
    bucket.put('c', numbered(1, 2).join('\n'), then + 2_000);
    const settings = { endpoint: bucket.origin, format: 'jsonl', backfill_start_time: YEAR_2020 };
    const clock = { ...systemClock, sleep: () => Promise.resolve() };
    const runner = world.runner({
      definition,
      inputs: { in: openInput(settings, BUCKET_KEYS, clock) },
      outputs: { out },
    });
    await runner.start();
    await expect.poll(() => out.numbers).toEqual([0, 1, 2]);
    await expect.poll(() => status(runner)).toBe('Running');
    expect(codes(runner)).toContain('object_skipped');
    expect(await world.deadLetters()).toEqual([
      expect.objectContaining({ reason: 'invalid_json', record: 'nonsense', node_id: 'in' }),
      expect.objectContaining({
        reason: 'object_skipped: corrupt_gzip',
        record: expect.objectContaining({ key: 'b' }),
      }),
    ]);
    expect(JSON.stringify(runner.log.entries())).not.toContain('nonsense');
    await runner.stop();
    await bucket.close();
  });
});
