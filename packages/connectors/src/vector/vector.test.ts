import protobuf from 'protobufjs';
import { expect, onTestFinished, test } from 'vitest';
import { startGrpcServer, type GrpcReply } from '../../../../test/support/grpc-server.js';
import { attempt, noted, outputContext } from '../../../../test/support/output-attempt.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch } from '@connector-frame/engine/connector-api';
import { vectorOutput } from './index.js';

const PUSH = '/vector.Vector/PushEvents';
const HEALTH = '/vector.Vector/HealthCheck';
// The messages of proto/vector/vector.proto and lib/vector-core/proto/event.proto, as field numbers.
const mapOf = (type: string): protobuf.IMapField => ({ keyType: 'string', type, id: 1 });
const root = protobuf.Root.fromJSON({
  nested: {
    Request: { fields: { events: { rule: 'repeated', type: 'Wrapper', id: 1 } } },
    Wrapper: { fields: { log: { type: 'Log', id: 1 } } },
    Log: { fields: { value: { type: 'Value', id: 2 } } },
    Map: { fields: { fields: mapOf('Value') } },
    List: { fields: { items: { rule: 'repeated', type: 'Value', id: 1 } } },
    Value: {
      oneofs: { kind: { oneof: ['bytes', 'integer', 'float', 'boolean', 'map', 'array', 'nothing'] } },
      fields: {
        bytes: { type: 'bytes', id: 1 },
        integer: { type: 'int64', id: 4 },
        float: { type: 'double', id: 5 },
        boolean: { type: 'bool', id: 6 },
        map: { type: 'Map', id: 7 },
        array: { type: 'List', id: 8 },
        nothing: { type: 'int32', id: 9 },
      },
    },
  },
});

function plain(value: Record<string, unknown>): unknown {
  const { kind } = value;
  const inner = typeof kind === 'string' ? value[kind] : undefined;
  if (kind === 'map')
    return Object.fromEntries(
      Object.entries(Object(inner).fields ?? {}).map(([key, each]) => [key, plain(Object(each))]),
    );
  if (kind === 'array') return (Object(inner).items ?? []).map((each: unknown) => plain(Object(each)));
  if (kind === 'bytes') return Buffer.from(Object(inner)).toString();
  return kind === 'nothing' ? null : kind === 'integer' ? Number(inner) : inner;
}
const events = (message: Buffer): unknown[] => {
  const request = root.lookupType('Request').decode(message);
  return (Object(request).events ?? []).map(({ log }: { log: { value: Record<string, unknown> } }) => plain(log.value));
};

const signal = new AbortController().signal;
const egress = createEgress({ allow: ['127.0.0.0/8'] });

test('pushes each record as a log event, and knows when Vector is not ready', async () => {
  let reply: GrpcReply = {};
  const server = await startGrpcServer([PUSH, HEALTH], () => reply);
  onTestFinished(() => server.close());
  for (const compression of ['none', 'gzip', 'zstd']) {
    const config = { settings: { address: `127.0.0.1:${server.port}`, compression }, secrets: {} };
    const output = vectorOutput.createOutput?.(config, outputContext('output:vector', egress));
    const records = [{ a: 'ü', n: 1, f: 1.5, ok: true, no: null, list: [1, ['x'], {}], deep: { 'a.b': {} } }, {}];
    expect(
      await output?.write(
        createBatch(
          'b',
          records.map((record) => JSON.stringify(record)),
        ),
        signal,
      ),
    ).toEqual({});
    expect(events(server.calls.at(-1)?.message ?? Buffer.alloc(0))).toEqual(records);
    await output?.close?.();
  }
  const config = { settings: { address: `http://127.0.0.1:${server.port}/` }, secrets: {} };
  const test = () => vectorOutput.testConnection?.(config, { egress, signal });
  expect(await test()).toEqual({ ok: true, summary: 'Vector is ready' });
  reply = { message: Buffer.from([8, 1]) };
  expect(await test()).toMatchObject({ ok: false, reason: 'upstream_error' });
  reply = { status: 'UNAVAILABLE' };
  const output = vectorOutput.createOutput?.(config, outputContext('output:vector', egress));
  if (!output) throw new Error('no output');
  expect((await attempt(output, noted(1))).failure).toMatchObject({ code: 'upstream_error', kind: 'retry' });
  await output.close?.();
});
