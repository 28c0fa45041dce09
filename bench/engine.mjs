import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { report, sideBySide } from './lib.mjs';

const ROUNDS = 7;
/** Records per body, and bodies per round. */
const RECORDS = 500;
const BODIES = 400;
const SHARE = 0.6;

/** A typical audit event of about 400 bytes. */
const event = (number) => ({
  id: `evt_${String(number).padStart(12, '0')}`,
  published: new Date(1_750_000_000_000 + number).toISOString(),
  event_type: 'user.session.start',
  severity: 'INFO',
  actor: { id: `usr_${number % 1_000}`, type: 'User', email: 'ana.silva@example.com' },
  client: { ip: '198.51.100.7', user_agent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)' },
  outcome: { result: 'SUCCESS' },
  targets: [{ id: `obj_${number % 200}`, type: 'Session', display_name: 'Sign-in to the console' }],
});
const body = `${Array.from({ length: RECORDS }, (_, number) => JSON.stringify(event(number))).join('\n')}\n`;

async function startProcess(file, { words = [], env = {} } = {}) {
  const child = fork(new URL(file, import.meta.url), words, { env: { ...process.env, ...env } });
  const [told] = await once(child, 'message');
  return {
    ...told,
    async memory() {
      child.send('memory');
      const [{ memory }] = await once(child, 'message');
      return memory.rss;
    },
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

/** Returns a function that calls the service as a host's backend does. */
function api({ url: base, apiKey }) {
  return async (method, path, content) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const init = content === undefined ? {} : { body: JSON.stringify(content) };
    const response = await fetch(`${base}${path}`, { method, headers, ...init });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
}

/** Creates a push input and a pipeline from it to the given output. */
async function build(call, org, output) {
  const made = await call('POST', `/v2/${org}/outputs`, output);
  const input = await call('POST', `/v2/${org}/inputs`, {
    name: `In front of ${output.type}`,
    type: 'monad-http',
    config: { settings: {}, secrets: {} },
  });
  const pipeline = await call('POST', `/v2/${org}/pipelines`, {
    name: output.type,
    nodes: [
      { slug: 'input', component_id: input.id, component_type: 'input' },
      { slug: 'output', component_id: made.id, component_type: 'output' },
    ],
    edges: [{ from_node_instance_id: 'input', to_node_instance_id: 'output' }],
  });
  const state = () => call('GET', `/v2/${org}/pipelines/${pipeline.id}/status`);
  while ((await state()).status !== 'Running') await sleep(50);
  return { ...input.ingest, delivered: async () => (await state()).egress.records };
}

/** Returns records per second, measured from the first byte sent to the last record delivered. */
async function through(load, { url, token, delivered }, bodies = BODIES) {
  const before = (await delivered?.()) ?? 0;
  const headers = { 'content-type': 'application/x-ndjson', ...(token && { authorization: `Bearer ${token}` }) };
  const started = performance.now();
  load.send({ url, calls: bodies, method: 'POST', headers, body });
  await once(load, 'message');
  if (delivered) while ((await delivered()) < before + bodies * RECORDS) await sleep(40);
  return (bodies * RECORDS * 1_000) / (performance.now() - started);
}

export default async function engine() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-engine-'));
  const receiver = await startProcess('receiver.mjs');
  const bare = await startProcess('bare-ingest.mjs', { words: [join(folder, 'bare.ndjson')] });
  const service = await startProcess('engine-service.mjs', {
    env: {
      DATA_DIR: join(folder, 'data'),
      EGRESS_ALLOW: '127.0.0.0/8',
      ...Object.fromEntries(['ADDRESS', 'KEY', 'ORGANIZATION'].map((name) => [`RATE_LIMIT_${name}`, 'off'])),
    },
  });
  const load = fork(new URL('load.mjs', import.meta.url));
  try {
    const call = api(service);
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
      const marks = [await service.memory()];
      for (let part = 0; part < 4; part += 1) {
        await through(load, ours, 500);
        marks.push(await service.memory());
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
