import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { report, sideBySide } from './lib.mjs';
import { api, build, ndjson, startProcess, startService } from './pipelines.mjs';
import { nextMessage } from './processes.mjs';

const ROUNDS = 7;
/** Records per body, and bodies per round. */
const RECORDS = 500;
const BODIES = 400;
const SHARE = 0.6;
/** CPU time of the service, compared with a bare server. */
const CPU = 1.5;
const body = ndjson(RECORDS);

/** Returns records per second, measured from the first byte sent to the last record delivered. */
async function through(load, { url, token, delivered }, bodies = BODIES, content = body) {
  const before = (await delivered?.()) ?? 0;
  const headers = { 'content-type': 'application/x-ndjson', ...(token && { authorization: `Bearer ${token}` }) };
  const started = performance.now();
  load.send({ url, calls: bodies, method: 'POST', headers, body: content });
  await nextMessage(load);
  if (delivered) while ((await delivered()) < before + bodies * RECORDS) await sleep(40);
  return (bodies * RECORDS * 1_000) / (performance.now() - started);
}

/**
 * Returns the CPU time in microseconds per record that a process uses to accept bodies of `size`
 * records. Asking for its status would count, so it only waits for the delivery.
 */
async function cpuOf(target, load, to, size) {
  const bodies = size === RECORDS ? BODIES / 2 : BODIES * 4;
  const before = (await target.figures()).cpu;
  await through(load, { url: to.url, token: to.token }, bodies, ndjson(size));
  await sleep(300);
  const { cpu } = await target.figures();
  return (cpu.user + cpu.system - before.user - before.system) / (bodies * size);
}

export default async function engine() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-engine-'));
  const receiver = await startProcess('receiver.mjs');
  const bare = await startProcess('bare-ingest.mjs', { words: [join(folder, 'bare.ndjson')] });
  const service = await startService(join(folder, 'data'));
  const load = fork(new URL('load.mjs', import.meta.url));
  try {
    const call = api(service);
    const memory = async () => (await service.figures()).memory.rss;
    const outputs = [
      { name: 'Nowhere', type: 'dev-null', config: { settings: {}, secrets: {} } },
      {
        name: 'A web server',
        type: 'http',
        config: {
          settings: { endpoint: receiver.url, method: 'POST', payload_structure: 'array' },
          secrets: {},
        },
      },
    ];
    for (const output of outputs) {
      const ours = await build(call, service.org, output);
      await through(load, ours, 20);
      await through(load, { url: bare.url }, 20);
      const { a, b, ratio } = await sideBySide(
        ROUNDS,
        () => through(load, ours),
        () => through(load, { url: bare.url }),
      );
      const told = `${ratio.toFixed(2)} of a bare server (${Math.round(a).toLocaleString('en')} records a second against ${Math.round(b).toLocaleString('en')})`;
      report(`monad-http to ${output.type}`, told, `at least ${SHARE}`, ratio >= SHARE);
      if (output.type !== 'dev-null') continue;
      for (const size of [RECORDS, 10]) {
        const cpu = await sideBySide(
          ROUNDS,
          () => cpuOf(service, load, ours, size),
          () => cpuOf(bare, load, bare, size),
        );
        const times = `${cpu.ratio.toFixed(2)} of a bare server (${cpu.a.toFixed(1)} \u00b5s a record against ${cpu.b.toFixed(1)})`;
        report(`CPU time of monad-http, ${size} records per request`, times, `at most ${CPU}`, cpu.ratio <= CPU);
      }
      const marks = [await memory()];
      for (let part = 0; part < 4; part += 1) {
        await through(load, ours, 500);
        marks.push(await memory());
      }
      const sizes = marks.map((bytes) => `${Math.round(bytes / 1_048_576)}`).join(', ');
      report('memory of the service over a million records, MiB at each quarter', sizes);
    }
  } finally {
    load.kill();
    await Promise.all([service.stop(), bare.stop(), receiver.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}
