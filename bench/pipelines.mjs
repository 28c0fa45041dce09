import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { nextMessage } from './processes.mjs';

/** A typical audit event of about 400 bytes, the same number for each. */
export const event = (number) => ({
  id: `evt_${String(number).padStart(12, '0')}`,
  published: new Date(1_750_000_000_000 + number).toISOString(),
  event_type: 'user.session.start',
  severity: 'INFO',
  actor: { id: `usr_${String(number % 1_000).padStart(4, '0')}`, type: 'User', email: 'ana.silva@example.com' },
  client: { ip: '198.51.100.7', user_agent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)' },
  outcome: { result: 'SUCCESS' },
  targets: [
    { id: `obj_${String(number % 200).padStart(4, '0')}`, type: 'Session', display_name: 'Sign-in to the console' },
  ],
});
/** Returns the NDJSON of `count` events, with numbers from `first`. */
export const ndjson = (count, first = 0) =>
  `${Array.from({ length: count }, (_, number) => JSON.stringify(event(first + number))).join('\n')}\n`;

/** Starts a program of this folder. It sends a message when it is ready. */
export async function startProcess(file, { words = [], env = {} } = {}) {
  const child = fork(new URL(file, import.meta.url), words, { env: { ...process.env, ...env } });
  const told = await nextMessage(child);
  return {
    ...told,
    pid: child.pid,
    /** Asks the program for its figures. @param what `collect`: after a garbage collection */
    async figures(what = 'figures') {
      child.send(what);
      const figures = await nextMessage(child);
      return figures;
    },
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

/** Returns a function that calls the service as a host's backend does. */
export function api({ url: base, apiKey }) {
  return async (method, path, content) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const init = content === undefined ? {} : { body: JSON.stringify(content) };
    const response = await fetch(`${base}${path}`, { method, headers, ...init });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
}

/**
 * Creates a push input and a pipeline from it to the given output, through the components `between`.
 */
export async function build(call, org, output, between = []) {
  const made = await call('POST', `/v2/${org}/outputs`, output);
  const input = await call('POST', `/v2/${org}/inputs`, {
    name: `In front of ${output.name}`,
    type: 'monad-http',
    config: { settings: {}, secrets: {} },
  });
  const nodes = [
    { component_id: input.id, component_type: 'input' },
    ...between,
    { component_id: made.id, component_type: 'output' },
  ];
  const pipeline = await call('POST', `/v2/${org}/pipelines`, {
    name: output.name,
    nodes: nodes.map((node) => ({ ...node, slug: node.component_type })),
    edges: nodes.slice(1).map(({ component_type: to }, before) => ({
      from_node_instance_id: nodes[before].component_type,
      to_node_instance_id: to,
    })),
  });
  const state = () => call('GET', `/v2/${org}/pipelines/${pipeline.id}/status`);
  while ((await state()).status !== 'Running') await sleep(50);
  return { ...input.ingest, output_id: made.id, delivered: async () => (await state()).egress.records };
}

/** Starts the whole service, without rate limits, on an empty data folder. */
export const startService = (folder, env = {}, words = []) =>
  startProcess('engine-service.mjs', {
    words,
    env: {
      ...env,
      DATA_DIR: folder,
      EGRESS_ALLOW: '127.0.0.0/8',
      ...Object.fromEntries(['ADDRESS', 'KEY', 'ORGANIZATION'].map((name) => [`RATE_LIMIT_${name}`, 'off'])),
    },
  });
