import { setMaxListeners } from 'node:events';
import { mkdtempSync, openSync, closeSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createEmbeddedBus, createEmbeddedCoordinator, createMemoryStore } from '@connector-frame/engine';
import { systemClock } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { pollCode } from '../packages/connectors/dist/_shared/poll/index.js';
import { report } from './lib.mjs';
import { startProcess } from './pipelines.mjs';
import { startRunner } from './start-runner.mjs';

const PIPELINES = 500;
/** Long enough for one process to poll all of them. */
const INTERVAL_S = 10;
const MEASURED_MS = 20_000;
const ORIGIN = 'https://api.acme.example';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** Returns a type with its own definition. */
const typeOf = (number, path) => ({
  type_id: `acme-${number}`,
  kind: 'input',
  name: `Acme ${number}`,
  description: 'Events.',
  category: 'SaaS',
  vendor: 'Acme',
  version: '1.0.0',
  evidence: 'own',
  config: {
    settings: { type: 'object', properties: {}, additionalProperties: false },
    secrets: { type: 'object', properties: {}, additionalProperties: false },
  },
  poll: {
    base_url: ORIGIN,
    authentication: { kind: 'bearer', secret: '/secrets/token' },
    interval_seconds: INTERVAL_S,
    check: { path, records: { path: '/data' } },
    streams: [
      {
        name: `events-${number}`,
        path,
        query: { since: '{{since}}', limit: '{{page_size}}' },
        page_size: 100,
        records: { path: '/data', id: '/id', time: '/at', time_form: 'milliseconds' },
        pagination: { kind: 'none' },
        cursor: { kind: 'time', overlap_seconds: 60 },
      },
    ],
  },
});

const heap = () => {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

/** Measures the CPU time of this process per request to the vendor, in milliseconds. */
async function costOf(vendor) {
  const before = await vendor.figures();
  const cpu = process.cpuUsage();
  await sleep(MEASURED_MS);
  const { user, system } = process.cpuUsage(cpu);
  const after = await vendor.figures();
  return (user + system) / 1_000 / (after.requests - before.requests);
}

/** Measures the same requests in a loop that parses each page and appends its records to a file. */
async function bare(vendor, path, egress) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-bare-'));
  const file = openSync(join(folder, 'records'), 'a');
  const ended = new AbortController();
  setMaxListeners(PIPELINES, ended.signal);
  const loops = Array.from({ length: PIPELINES }, async (_, number) => {
    await sleep((number * INTERVAL_S * 1_000) / PIPELINES);
    while (!ended.signal.aborted) {
      const response = await egress.fetch(`${ORIGIN}${path}`, { headers: { authorization: 'Bearer canary' } });
      const { data } = JSON.parse(await response.text());
      if (data.length > 0) writeSync(file, data.map((each) => `${JSON.stringify(each)}\n`).join(''));
      await sleep(INTERVAL_S * 1_000, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  });
  await sleep(2 * INTERVAL_S * 1_000);
  const cost = await costOf(vendor);
  ended.abort();
  await Promise.all(loops);
  closeSync(file);
  rmSync(folder, { recursive: true, force: true });
  return cost;
}

/** Measures the pipelines: CPU time per poll, and bytes of heap per pipeline. */
async function polled(vendor, path, egress) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-polling-'));
  const bus = createEmbeddedBus({ folder: join(folder, 'bus'), onDamage: console.error });
  const coordinator = createEmbeddedCoordinator({ store: createMemoryStore() });
  const before = heap();
  const runners = [];
  for (let number = 0; number < PIPELINES; number += 1) {
    const type = typeOf(number, path);
    const config = { settings: {}, secrets: { token: 'canary-token' } };
    const input = pollCode(type).createInput(config, { type, egress, clock: systemClock });
    runners.push(await startRunner({ id: `p${number}`, input, folder, bus, coordinator }));
  }
  await sleep(2 * INTERVAL_S * 1_000);
  const cost = await costOf(vendor);
  const memory = (heap() - before) / PIPELINES;
  const errors = (await Promise.all(runners.map((runner) => runner.state()))).filter(({ last_error }) => last_error);
  await Promise.all(runners.map((runner) => runner.stop()));
  await bus.close();
  rmSync(folder, { recursive: true, force: true });
  if (errors.length > 0) throw new Error(`${errors.length} pipelines failed: ${JSON.stringify(errors[0].last_error)}`);
  return { cost, memory };
}

/** Starts the vendor, and returns it with an egress that sends the requests of the definitions to it. */
async function openVendor() {
  // In another process, so that its CPU time does not count.
  const vendor = await startProcess('poll-vendor.mjs');
  const real = createEgress({ allow: ['127.0.0.0/8'] });
  const egress = { ...real, fetch: (url, init) => real.fetch(vendor.origin + String(url).slice(ORIGIN.length), init) };
  return { vendor, egress, close: async () => (real.close?.(), await vendor.stop()) };
}

/** Returns the CPU time in milliseconds of a poll, and the bytes of heap of a pipeline, for polls without and with new records. */
export async function measurePolling() {
  const { vendor, egress, close } = await openVendor();
  try {
    return {
      idle: await polled(vendor, '/idle', egress),
      busy: await polled(vendor, '/busy', egress),
      records: vendor.events,
      pipelines: PIPELINES,
    };
  } finally {
    await close();
  }
}

/** Measures memory and CPU time of 500 pipelines, each with its own input and definition. */
export default async function polling() {
  const { vendor, egress, close } = await openVendor();
  try {
    for (const [name, path] of [
      ['idle', '/idle'],
      ['busy', '/busy'],
    ]) {
      const { cost, memory } = await polled(vendor, path, egress);
      const plain = await bare(vendor, path, egress);
      const told = `${(memory / 1024).toFixed(0)} KiB of heap each; ${cost.toFixed(2)} ms of CPU a poll, a bare loop ${plain.toFixed(2)} ms`;
      const records = name === 'busy' ? `, ${vendor.events} new records a poll` : '';
      report(`${PIPELINES} polled pipelines, ${name}${records}`, told);
    }
  } finally {
    await close();
  }
}
