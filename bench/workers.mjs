import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { report, sideBySide } from './lib.mjs';
import { api, build, event, startProcess, startService } from './pipelines.mjs';
import { startPostgres } from './postgres.mjs';

const ROUNDS = 5;
const PIPELINES = 2;
/** Records per body, and bodies per round. */
const LOADS = [
  { records: 500, bodies: 120 },
  { records: 10, bodies: 1_200 },
];

/**
 * Records per second through a replica and one or two workers on a PostgreSQL, compared with the embedded
 * engine: from the first byte sent until the receiver has all.
 */
export default async function workers() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-workers-'));
  const receiver = await startProcess('receiver.mjs');
  const load = fork(new URL('load.mjs', import.meta.url));
  const closing = [];
  try {
    const embedded = await startService(join(folder, 'embedded'));
    closing.push(() => embedded.stop());
    const postgres = await startPostgres();
    closing.push(() => postgres.close());
    const env = {
      DATABASE_URL: await postgres.createDatabase(),
      MASTER_KEY: randomBytes(32).toString('base64url'),
      EGRESS_ALLOW: '127.0.0.0/8',
    };
    const running = [await startProcess('engine-worker.mjs', { env })];
    closing.unshift(() => Promise.all(running.map((worker) => worker.stop())));
    const replica = await startService(join(folder, 'replica'), { ...env, ENGINE: 'off' });
    closing.unshift(() => replica.stop());
    const ours = { service: replica, inputs: await buildAll(replica, receiver) };
    const theirs = { service: embedded, inputs: await buildAll(embedded, receiver) };
    for (const count of [1, 2]) {
      if (count === 2) {
        running.push(await startProcess('engine-worker.mjs', { env }));
        for (const worker of running) while ((await heldBy(worker)) !== PIPELINES / 2) await sleep(100);
      }
      for (const { records, bodies } of LOADS) {
        const measure = (target) => () => through({ load, receiver }, target, records, bodies);
        await measure(ours)();
        await measure(theirs)();
        const { a, b, ratio } = await sideBySide(ROUNDS, measure(ours), measure(theirs));
        const [first, second] = [a, b].map((rate) => Math.round(rate).toLocaleString('en'));
        report(
          `${count} ${count === 1 ? 'worker' : 'workers'}, ${records} records per request`,
          `${ratio.toFixed(2)} of the embedded engine (${first} records a second against ${second})`,
        );
      }
    }
  } finally {
    load.kill();
    for (const close of closing) await close();
    await receiver.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds the pipelines to the receiver. Returns path and token of each input. */
async function buildAll(service, receiver) {
  const inputs = [];
  for (let index = 0; index < PIPELINES; index += 1) {
    const settings = { endpoint: receiver.url, method: 'POST', payload_structure: 'array' };
    const output = { name: `A web server ${index}`, type: 'http', config: { settings, secrets: {} } };
    const { url, token } = await build(api(service), service.org, output);
    inputs.push({ path: new URL(url).pathname, token });
  }
  return inputs;
}

/** Returns how many pipelines a process runs. */
async function heldBy({ url }) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return [...text.matchAll(/pipelines\{status="\w+"\} (\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Returns records per second. Each pipeline gets an equal part. */
async function through({ load, receiver }, { service, inputs }, records, bodies) {
  const lines = Array.from({ length: records }, (_, number) => JSON.stringify(event(number)));
  const calls = bodies / inputs.length;
  const total = bodies * lines.reduce((sum, line) => sum + line.length + 1, 0);
  // Each request to the receiver has one byte more than its records with their separators.
  const received = async () => {
    const { bytes, requests } = await receiver.figures();
    return bytes - requests;
  };
  const before = await received();
  let left = inputs.length;
  const sent = new Promise((resolve) => {
    load.on('message', function done() {
      left -= 1;
      if (left > 0) return;
      load.off('message', done);
      resolve();
    });
  });
  const started = performance.now();
  for (const { path, token } of inputs) {
    const headers = { 'content-type': 'application/x-ndjson', authorization: `Bearer ${token}` };
    load.send({ url: `${service.url}${path}`, calls, method: 'POST', headers, body: lines.join('\n') });
  }
  await sent;
  while ((await received()) < before + total) await sleep(10);
  return (bodies * records * 1_000) / (performance.now() - started);
}
