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
 * Records per second through one and two processes that share the pipelines of a PostgreSQL, compared with the
 * embedded engine: from the first byte sent until the receiver has all.
 */
export default async function workers() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-workers-'));
  const receiver = await startProcess('receiver.mjs');
  const load = fork(new URL('load.mjs', import.meta.url));
  const closing = [];
  try {
    const alone = await startService(join(folder, 'alone'));
    closing.push(() => alone.stop());
    const postgres = await startPostgres();
    closing.push(() => postgres.close());
    const env = {
      ENGINE: 'shared',
      DATABASE_URL: await postgres.createDatabase(),
      MASTER_KEY: randomBytes(32).toString('base64url'),
    };
    const shared = [await startService(join(folder, 'shared-1'), env)];
    closing.unshift(() => Promise.all(shared.map((process) => process.stop())));
    const run = { load, receiver };
    const embedded = { processes: [alone], inputs: await buildAll(alone, receiver) };
    const inputs = await buildAll(shared[0], receiver);
    for (const count of [1, 2]) {
      if (count === 2) {
        shared.push(await startService(join(folder, 'shared-2'), env));
        for (const process of shared) while ((await heldBy(process)) !== PIPELINES / 2) await sleep(100);
      }
      for (const { records, bodies } of LOADS) {
        const ours = () => through(run, { processes: shared, inputs }, records, bodies);
        const theirs = () => through(run, embedded, records, bodies);
        await ours();
        await theirs();
        const { a, b, ratio } = await sideBySide(ROUNDS, ours, theirs);
        const [first, second] = [a, b].map((rate) => Math.round(rate).toLocaleString('en'));
        report(
          `shared engine, ${count} process${count === 1 ? '' : 'es'}, ${records} records per request`,
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

/** Returns records per second. Each process gets an equal part of the records of each pipeline. */
async function through({ load, receiver }, { processes, inputs }, records, bodies) {
  const lines = Array.from({ length: records }, (_, number) => JSON.stringify(event(number)));
  const parts = processes.length * inputs.length;
  const calls = Math.ceil(bodies / parts);
  const total = calls * parts * lines.reduce((sum, line) => sum + line.length + 1, 0);
  // Each request to the receiver has one byte more than its records with their separators.
  const received = async () => {
    const { bytes, requests } = await receiver.figures();
    return bytes - requests;
  };
  const before = await received();
  let left = parts;
  const sent = new Promise((resolve) => {
    load.on('message', function done() {
      left -= 1;
      if (left > 0) return;
      load.off('message', done);
      resolve();
    });
  });
  const started = performance.now();
  for (const { url } of processes)
    for (const { path, token } of inputs) {
      const headers = { 'content-type': 'application/x-ndjson', authorization: `Bearer ${token}` };
      load.send({ url: `${url}${path}`, calls, method: 'POST', headers, body: lines.join('\n') });
    }
  await sent;
  while ((await received()) < before + total) await sleep(10);
  return (calls * parts * records * 1_000) / (performance.now() - started);
}
