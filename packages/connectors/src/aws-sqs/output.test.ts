import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBatch, systemClock, type AwsRoles, type Output } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { typeOf } from '../../../../test/support/declared-fields.js';
import type { AwsWorld } from '../../../../test/support/aws-world.js';
import { startFakeAws, type FakeAws } from '../../../../test/support/fake-aws.js';
import { long } from '../../../../test/support/long.js';
import { startMoto } from '../../../../test/support/moto.js';
import { createSqsOutput, createSqsOutputTester } from './output.js';

const never = new AbortController().signal;
const egress = createEgress({ allow: ['127.0.0.0/8'] });
const rolesOf = ({ keys }: AwsWorld): AwsRoles => ({ externalId: 'cf-1', assume: () => Promise.resolve(keys) });
const configOf = (queue_url: string, changes: object = {}) => ({
  settings: {
    queue_url,
    queue_type: 'standard',
    region: 'us-east-1',
    role_arn: 'arn:aws:iam::123456789012:role/LogWriter',
    ...changes,
  },
  secrets: {},
});

function open(world: AwsWorld, queue: string, changes: object = {}): Output {
  const type = typeOf('output:aws-sqs');
  const context = { type, egress, clock: systemClock, aws: rolesOf(world) };
  return createSqsOutput(() => world.origin)(configOf(queue, changes), context);
}
const tested = (world: AwsWorld, queue: string) =>
  createSqsOutputTester(() => world.origin)(configOf(queue), { egress, aws: rolesOf(world), signal: never });
const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => JSON.stringify({ n }));

/** Without `LONG`, only the server that follows the documentation. */
const worlds: [string, () => Promise<AwsWorld>][] = [
  ['as documented', startFakeAws],
  ...(long ? [['moto', startMoto] satisfies [string, () => Promise<AwsWorld>]] : []),
];

describe.each(worlds)('a queue, %s', (_name, start) => {
  let world: AwsWorld;
  beforeAll(async () => {
    world = await start();
  }, 600_000);
  afterAll(() => world.close());

  test('gets each record as a message', async () => {
    const queue = await world.createQueue('all');
    expect(await open(world, queue).write(createBatch('b', numbered(25)), never)).toEqual({});
    expect(await world.left(queue)).toBe(25);
  });

  test('is tested without a message', async () => {
    const queue = await world.createQueue('tested');
    expect(await tested(world, queue)).toMatchObject({ ok: true });
    expect(await world.left(queue)).toBe(0);
    expect(await tested(world, `${queue}-other`)).toMatchObject({
      reason: 'not_found',
      issues: [{ path: '/settings/queue_url' }],
    });
  });
});

describe('failures', () => {
  let world: FakeAws;
  beforeAll(async () => {
    world = await startFakeAws();
  });
  afterAll(() => world.close());

  test('a refused message goes to the dead letters, others are sent again', async () => {
    const queue = await world.createQueue('partial');
    const lines = ['{"n":0}', '{"n":"poison"}', '{"n":"busy"}', '{"n":3}'];
    expect(await open(world, queue).write(createBatch('b', lines), never)).toMatchObject({
      rejected: [{ index: 1 }],
      retry: { indexes: [2] },
    });
    expect(world.bodies(queue)).toEqual(['{"n":0}', '{"n":3}']);
  });

  test('a FIFO queue drops a repetition', async () => {
    const queue = await world.createQueue('ordered.fifo');
    const output = open(world, queue, { queue_type: 'fifo' });
    expect(output.ordering).toBe('stream');
    for (let times = 0; times < 2; times += 1) await output.write(createBatch('b', numbered(3)), never);
    expect(world.bodies(queue)).toEqual(numbered(3));
  });

  test('large records are sent in separate requests', async () => {
    const queue = await world.createQueue('large');
    const before = world.requests.length;
    const lines = Array.from({ length: 3 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(150_000) }));
    await open(world, queue).write(createBatch('b', lines), never);
    expect(world.requests.length - before).toBe(3);
  });

  test.each([
    ['AccessDeniedException', 400, { code: 'forbidden', kind: 'permanent' }],
    ['RequestThrottled', 403, { code: 'rate_limited', kind: 'throttled' }],
    ['InternalFailure', 500, { code: 'upstream_error', kind: 'retry' }],
  ])('%s', async (code, status, expected) => {
    const queue = await world.createQueue('failing');
    world.failing.push({ action: 'SendMessageBatch', code, status });
    await expect(open(world, queue).write(createBatch('b', numbered(1)), never)).rejects.toMatchObject(expected);
  });

  test('says that the service has no identity', () => {
    const context = { type: typeOf('output:aws-sqs'), egress, clock: systemClock };
    expect(() => createSqsOutput()(configOf('https://sqs.us-east-1.amazonaws.com/1/a'), context)).toThrow(
      /no AWS identity/,
    );
  });
});
