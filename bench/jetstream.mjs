import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as dial, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBatch, createEmbeddedBus, createMemoryRegistry } from '@connector-frame/engine';
import { createJetStreamBus } from '@connector-frame/engine/jetstream';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { ensureNats } from '../scripts/lib/ensure-brokers.mjs';
import { report, sideBySide } from './lib.mjs';
import { event } from './pipelines.mjs';

const ROUNDS = 7;
/** Publishers at a time, batches per round, and records per batch. */
const PUBLISHERS = 8;
const LOADS = [
  { records: 500, batches: 400, share: 0.5 },
  { records: 10, batches: 2_000, share: 0.5 },
];

/** Records per second through a bus in JetStream, compared with the bare client and the embedded bus. */
export default async function jetStream() {
  await ensureNats();
  const folder = mkdtempSync(join(tmpdir(), 'bench-jetstream-'));
  const port = await freePort();
  writeFileSync(join(folder, 'nats.conf'), `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}/store" }\n`);
  const PATH = `${process.env.PATH}:/usr/sbin`;
  const server = spawn('nats-server', ['-c', join(folder, 'nats.conf')], {
    env: { PATH },
    stdio: 'ignore',
  });
  while (!(await isListening(port))) await sleep(20);
  const inJetStream = await createJetStreamBus({
    nats: { url: `nats://127.0.0.1:${port}` },
    registry: createMemoryRegistry(),
    owner: 'bench',
  });
  const inFiles = createEmbeddedBus({ folder: join(folder, 'bus') });
  const connection = await connect({ servers: `127.0.0.1:${port}` });
  try {
    const bare = await openBare(connection);
    for (const bus of [inJetStream, inFiles]) await bus.declare('s', ['a']);
    for (const load of LOADS) {
      const lines = Array.from({ length: load.records }, (_, number) => JSON.stringify(event(number)));
      const ours = () => throughBus(inJetStream, lines, load);
      const compared = [
        ['the bare client', () => bare(Buffer.from(lines.join('\n')), load)],
        ['the embedded bus', () => throughBus(inFiles, lines, load)],
      ];
      for (const [name, other] of compared) {
        await ours();
        await other();
        const { a, b, ratio } = await sideBySide(ROUNDS, ours, other);
        const summary = `${ratio.toFixed(2)} of ${name} (${Math.round(a).toLocaleString('en')} records a second against ${Math.round(b).toLocaleString('en')})`;
        const isBounded = name === 'the bare client';
        report(
          `bus in JetStream, ${load.records} records per batch`,
          summary,
          isBounded ? `at least ${load.share}` : undefined,
          isBounded ? ratio >= load.share : undefined,
        );
      }
    }
  } finally {
    await connection.close();
    await inJetStream.close();
    await inFiles.close();
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

let made = 0;

/** Publishes and delivers batches; returns records per second. */
async function throughBus(bus, lines, { batches, records }) {
  const stop = new AbortController();
  const started = performance.now();
  const reading = (async () => {
    let left = batches;
    for await (const { ack } of bus.consume('s', 'a', stop.signal)) {
      await ack();
      left -= 1;
      if (left === 0) return;
    }
  })();
  await inParallel(batches, () => bus.publish('s', createBatch(`b${(made += 1)}`, lines), { waitMs: 10_000 }));
  await reading;
  stop.abort();
  return (batches * records * 1_000) / (performance.now() - started);
}

/** Opens a JetStream stream for messages of the client alone, read by an ordered consumer. */
async function openBare(connection) {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: 'bare', subjects: ['bare'], storage: 'file' });
  const client = jetstream(connection);
  return async (body, { batches, records }) => {
    const { state } = await manager.streams.info('bare');
    const consumer = await client.consumers.get('bare', {
      deliver_policy: 'by_start_sequence',
      opt_start_seq: state.last_seq + 1,
    });
    const messages = await consumer.consume();
    const started = performance.now();
    const reading = (async () => {
      let left = batches;
      for await (const _ of messages) {
        left -= 1;
        if (left === 0) return;
      }
    })();
    await inParallel(batches, () => client.publish('bare', body, { msgID: `m${(made += 1)}` }));
    await reading;
    const rate = (batches * records * 1_000) / (performance.now() - started);
    await messages.close();
    await manager.streams.purge('bare');
    return rate;
  };
}

async function inParallel(count, work) {
  let left = count;
  await Promise.all(
    Array.from({ length: PUBLISHERS }, async () => {
      while (left-- > 0) await work();
    }),
  );
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = dial(port, '127.0.0.1');
    const end = (isOpen) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}
