import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { report, sideBySide } from './lib.mjs';
import { api, build, event, ndjson, startProcess, startService } from './pipelines.mjs';
import { nextMessage } from './processes.mjs';

const ROUNDS = 3;
const LATENCIES = [0, 50, 200];
/** Bytes of a record in the array of a request. */
const RECORD_BYTES = JSON.stringify(event(0)).length + 1;

const LOADS = [
  { name: '500 records per request', records: 500, calls: 300, share: 0.5 },
  // Most of this is the cost of receiving requests.
  { name: 'one record per request', records: 1, calls: 3_000, share: 0.3 },
];

/** Number of records in all arrays that a receiver has got: each array has one byte more. */
const recordsIn = ({ requests, bytes }) => (bytes - requests) / RECORD_BYTES;

/** Returns records per second from the first byte sent to the last record received, and requests. */
async function through(load, to, { url, token }, { records, calls, body }) {
  const before = await to.figures();
  const headers = { 'content-type': 'application/x-ndjson', ...(token && { authorization: `Bearer ${token}` }) };
  const started = performance.now();
  load.send({ url, calls, method: 'POST', headers, body });
  await nextMessage(load);
  for (;;) {
    const now = await to.figures();
    if (recordsIn(now) >= recordsIn(before) + records * calls) {
      const perSecond = (records * calls * 1_000) / (performance.now() - started);
      return { perSecond, requests: now.requests - before.requests };
    }
    await sleep(10);
  }
}

/** The `http` output at several latencies, compared with an ideal batcher. */
export default async function delivery() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-delivery-'));
  const service = await startService(join(folder, 'data'));
  const load = fork(new URL('load.mjs', import.meta.url));
  try {
    for (const latency of LATENCIES) {
      const to = await startProcess('receiver.mjs', { words: [String(latency)] });
      const ideal = await startProcess('ideal-batcher.mjs', { words: [join(folder, 'ideal.ndjson'), to.url] });
      const settings = { endpoint: to.url, method: 'POST', payload_structure: 'array' };
      const output = { name: `HTTP at ${latency} ms`, type: 'http', config: { settings, secrets: {} } };
      const ours = await build(api(service), service.org, output);
      for (const each of LOADS) {
        const sent = { ...each, body: ndjson(each.records) };
        const requests = { ours: 0, ideal: 0 };
        const measure = async (name, target) => {
          const result = await through(load, to, target, sent);
          requests[name] += result.requests;
          return result.perSecond;
        };
        await through(load, to, ours, sent);
        await through(load, to, ideal, sent);
        const { a, b, ratio } = await sideBySide(
          ROUNDS,
          () => measure('ours', ours),
          () => measure('ideal', ideal),
        );
        const rates = `${Math.round(a).toLocaleString('en')} records a second against ${Math.round(b).toLocaleString('en')}`;
        const counts = `${Math.round(requests.ours / ROUNDS)} requests against ${Math.round(requests.ideal / ROUNDS)}`;
        const measured = `${ratio.toFixed(2)} of an ideal batcher (${rates}; ${counts})`;
        // Both wait for a second at the end, which may begin before or after the last record.
        const within = ratio >= each.share && requests.ours <= 1.5 * requests.ideal + ROUNDS;
        const bound = `at least ${each.share}, with at most 1.5 of its requests`;
        report(`http at ${latency} ms, ${each.name}`, measured, bound, within);
      }
      await ideal.stop();
      await to.stop();
    }
  } finally {
    load.kill();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
