import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { nextMessage } from './processes.mjs';

/** Records per request, bytes per record, and requests. */
export const LOADS = {
  small: { records: 1, bytes: 600, requests: 2_000 },
  large: { records: 500, bytes: 600, requests: 200 },
  short: { records: 500, bytes: 100, requests: 200 },
  /** To each pipeline once in ten seconds, so that each request is reported. */
  trickle: { records: 1, bytes: 600 },
};

/** Returns a record of exactly `bytes` bytes, which hardly get fewer by compression. */
function record(bytes, number) {
  const line = JSON.stringify({ id: String(number).padStart(8, '0'), message: '' });
  return line.replace(
    '""',
    `"${randomBytes(bytes)
      .toString('base64url')
      .slice(0, bytes - line.length)}"`,
  );
}
const body = ({ records, bytes }) =>
  `${Array.from({ length: records }, (_, number) => record(bytes, number)).join('\n')}\n`;

/** Runs `work` for each number, eight at a time. Resolves to the results. */
export async function inParallel(count, work) {
  const made = [];
  let next = 0;
  const worker = async () => {
    for (let number = next++; number < count; number = next++) made[number] = await work(number);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return made;
}

/** Returns functions that use the API, send records and measure what they cost. */
export function toolsOf(topology, load) {
  const headers = { 'x-api-key': topology.access.apiKey, 'content-type': 'application/json' };
  const call = async (method, path, content) => {
    const init = content === undefined ? {} : { body: JSON.stringify(content) };
    let response = await fetch(`${topology.service.url}${path}`, { method, headers, ...init });
    // A database on a busy machine may not respond in time.
    for (let attempt = 1; response.status === 503 && attempt < 5; attempt += 1) {
      await sleep(2_000);
      response = await fetch(`${topology.service.url}${path}`, { method, headers, ...init });
    }
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const send = async (message) => {
    load.send(message);
    await nextMessage(load);
  };
  return {
    call,
    /** Sends requests to the pipelines in turn. */
    push: ({ requests, ...what }, targets) =>
      send({
        calls: requests,
        method: 'POST',
        body: body(what),
        targets: targets.map(({ url, token }) => ({
          url,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
        })),
      }),
    get: (path, calls, given = headers) =>
      send({ calls, method: 'GET', url: `${topology.service.url}${path}`, headers: given }),
    /** Returns the CPU time in milliseconds, and the bytes written, by role, of some work. */
    async costOf(work) {
      const [cpu, written] = [await topology.cpu(), await topology.written()];
      await work();
      const [after, writtenAfter] = [await topology.cpu(), await topology.written()];
      const less = (now, before) =>
        Object.fromEntries(Object.keys(now).map((role) => [role, now[role] - before[role]]));
      return { cpu: less(after, cpu), written: less(writtenAfter, written) };
    },
    /** Returns the rows of each table. */
    async rows() {
      if (!topology.query) return {};
      const tables = await topology.query(
        `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
      );
      const counts = {};
      for (const { name } of tables)
        counts[name] = Number((await topology.query(`select count(*) as rows from ${name}`))[0].rows);
      return counts;
    },
    async pipeline(number, output) {
      const made = await call('POST', `/v2/${topology.org}/outputs`, { name: `To ${number}`, ...output });
      const input = await call('POST', `/v2/${topology.org}/inputs`, {
        name: `From ${number}`,
        type: 'monad-http',
        config: { settings: {}, secrets: {} },
      });
      const pipeline = await call('POST', `/v2/${topology.org}/pipelines`, {
        name: `Pipeline ${number}`,
        nodes: [
          { component_id: input.id, component_type: 'input', slug: 'input' },
          { component_id: made.id, component_type: 'output', slug: 'output' },
        ],
        edges: [{ from_node_instance_id: 'input', to_node_instance_id: 'output' }],
      });
      return { ...input.ingest, id: pipeline.id };
    },
  };
}
