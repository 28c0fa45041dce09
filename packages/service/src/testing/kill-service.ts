import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '@connector-frame/engine';
import { systemClock } from '../clock.js';
import { readEnv } from '../env.js';
import { createLog } from '../log.js';
import { openCore } from '../open-core.js';
import { createEngineState } from '../store/engine-state.js';
import { startReceiver, type Receiver } from './receiver.js';
import { callerOf, startChild, type Call } from './service-child.js';

export interface ServiceKills {
  kills: number;
  /** Milliseconds of the quickest start, with all that was left. */
  quickestStart: number;
  /** Records that were acknowledged over HTTP; of these, how many never arrived at the output. */
  acknowledged: number;
  lostOverHttp: number;
  lostInFile: number;
  /** Batches that came once more over HTTP, and records in the file that are there once more. */
  repeatedBatches: number;
  repeatedInFile: number;
  /** Lines of the file that are no record. */
  broken: number;
  /** Where the cursor of the made-up input stands, how many of the records before it never arrived, and batches again. */
  cursor: number;
  cursorAhead: number;
  repeatedPages: number;
  /** Integrations that were acknowledged as built; pipelines without their ends, and ends without their pipeline. */
  built: number;
  halves: number;
  /** Buffers and state of pipelines that are gone. */
  leftBehind: number;
}

const KEY = 'an-operators-own-key-0123456789';

/**
 * Kills a service that runs pipelines, again and again, and adds up what arrived of what it had acknowledged.
 * @param environment beside what it sets itself
 * @param patience milliseconds it has after its start at most
 */
export async function killService(
  kills: number,
  random: () => number,
  environment: Readonly<Record<string, string>> = {},
  patience = 1_000,
): Promise<ServiceKills> {
  const folder = await mkdtemp(join(tmpdir(), 'kill-service-'));
  const receiver = await startReceiver();
  const variables = {
    DATA_DIR: join(folder, 'data'),
    FILE_OUTPUT_DIR: join(folder, 'files'),
    EGRESS_ALLOW: '127.0.0.1/32',
    BOOTSTRAP_ORGANIZATION: 'Northwind',
    SERVICE_API_KEY: KEY,
    RATE_LIMIT_KEY: 'off',
    RATE_LIMIT_ORGANIZATION: 'off',
    ...environment,
  };
  const customer = new Customer();
  let quickestStart = Number.POSITIVE_INFINITY;
  try {
    for (let cycle = 0; cycle < kills; cycle += 1) {
      const child = startChild(variables);
      // Now and then while it starts.
      if (cycle > 1 && random() < 0.15) {
        await sleep(300 + random() * 1_500);
        child.kill('SIGKILL');
        await child.ended;
        continue;
      }
      const url = await child.url;
      if (url === undefined) throw new Error(`The service did not start: ${(await child.ended).stderr}`);
      quickestStart = Math.min(quickestStart, await child.startedIn);
      const call = callerOf(url, KEY);
      if (!customer.input) await customer.setUp(call, receiver);
      const work = customer.work(call, url);
      const wanted = customer.acknowledged.length + random() * 600;
      for (const late = Date.now() + patience; customer.acknowledged.length < wanted && Date.now() < late;)
        await sleep(5);
      await sleep(random() * 50);
      child.kill('SIGKILL');
      await child.ended;
      await work.stop();
    }
    await drain(variables, customer);
    return { kills, quickestStart: Math.round(quickestStart), ...(await addUp(variables, customer, receiver)) };
  } finally {
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the other side of the service does and remembers. */
class Customer {
  org = '';
  input = '';
  /** Of the integrations that come and go. */
  #other = '';
  pipelines = { http: '', file: '', paged: '' };
  readonly acknowledged: number[] = [];
  readonly built = new Map<string, string>();
  #ingest = { url: '', token: '' };
  #next = 0;

  async setUp(call: Call, receiver: Receiver): Promise<void> {
    const must = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
      const answer = await call(method, path, body);
      if (!answer) throw new Error(`${method} ${path} was refused.`);
      return answer;
    };
    this.org = String((await must('GET', '/v3/api-keys/current'))['organization_id']);
    const make = async (type: string, settings: object): Promise<string> =>
      String((await must('POST', `/v2/${this.org}/inputs`, { name: type, type, config: { settings } }))['id']);
    const build = async (input_id: string, type: string, settings: object): Promise<string> => {
      const body = { input_id, name: type, output: { type, config: { settings } } };
      return String((await must('POST', `/v2/${this.org}/integrations`, body))['pipeline_id']);
    };
    const http = (path: string) => ({ endpoint: receiver.origin + path, method: 'POST', payload_structure: 'array' });
    const pushed = await make('monad-http', {});
    const made = await make('demo', { record_type: 'okta-systemlog', rate: 100 });
    this.pipelines = {
      http: await build(pushed, 'http', http('/pushed')),
      file: await build(pushed, 'file', { file_name: 'pushed.ndjson' }),
      paged: await build(made, 'http', http('/paged')),
    };
    const { ingest } = await must('GET', `/v1/${this.org}/inputs/${pushed}`);
    const { url, token } = isRecord(ingest) ? ingest : {};
    if (typeof url !== 'string' || typeof token !== 'string') throw new Error('The input has no address.');
    this.#ingest = { url: new URL(url).pathname, token };
    this.#other = await make('monad-http', {});
    this.input = pushed;
  }

  /** Sends records, and builds and removes integrations, until the service is gone. */
  work(call: Call, url: string): { stop(): Promise<void> } {
    const over = new AbortController();
    const goOn = async (turn: () => Promise<boolean>): Promise<void> => {
      while (!over.signal.aborted) if (!(await turn())) await sleep(5);
    };
    const done = Promise.all([
      goOn(() => this.#send(url)),
      goOn(() => this.#send(url)),
      goOn(() => this.#send(url)),
      goOn(() => this.#buildAndRemove(call)),
    ]);
    return {
      async stop() {
        over.abort();
        await done;
      },
    };
  }

  /** Each record once: what was not acknowledged may or may not be there. */
  async #send(url: string): Promise<boolean> {
    const numbers = Array.from({ length: 1 + (this.#next % 40) }, () => this.#next++);
    try {
      const response = await fetch(url + this.#ingest.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#ingest.token}`, 'content-type': 'application/x-ndjson' },
        body: numbers.map((n) => JSON.stringify({ n })).join('\n'),
      });
      await response.arrayBuffer();
      if (response.ok) this.acknowledged.push(...numbers);
      return response.ok;
    } catch {
      return false;
    }
  }

  async #buildAndRemove(call: Call): Promise<boolean> {
    const { org } = this;
    const made = await call('POST', `/v2/${org}/integrations`, { input_id: this.#other, name: 'Short' });
    if (!made) return false;
    const [pipeline, output] = [String(made['pipeline_id']), String(made['output_id'])];
    if (this.built.size < 3 && Math.random() < 0.3) this.built.set(pipeline, output);
    else {
      const body = { pipeline_id: pipeline, output_id: output, cleanup: { pipeline: true, output: true } };
      await call('POST', `/v2/${org}/integrations/delete`, body);
    }
    return true;
  }
}

/** Lets everything arrive, with nothing new coming, and ends in peace. */
async function drain(variables: Readonly<Record<string, string>>, customer: Customer): Promise<void> {
  const child = startChild(variables);
  const url = await child.url;
  if (url === undefined) throw new Error(`The service did not start: ${(await child.ended).stderr}`);
  const call = callerOf(url, KEY);
  const at = (id: string) => `/v2/${customer.org}/pipelines/${id}`;
  await call('PATCH', at(customer.pipelines.paged), { enabled: false });
  const wanted = {
    [customer.pipelines.http]: 'Running',
    [customer.pipelines.file]: 'Running',
    [customer.pipelines.paged]: 'Disabled',
  };
  for (const [id, status] of Object.entries(wanted)) {
    for (const late = Date.now() + 60_000; ; await sleep(50)) {
      const state = await call('GET', `${at(id)}/status`);
      if (state?.['status'] === status && state['waiting'] === 0) break;
      if (Date.now() > late) throw new Error(`A pipeline did not drain: ${JSON.stringify(state)}`);
    }
  }
  child.kill('SIGTERM');
  const { code, stderr } = await child.ended;
  if (code !== 0) throw new Error(`The service did not end in peace (${code}): ${stderr}`);
}

type Sums = Omit<ServiceKills, 'kills' | 'quickestStart'>;

async function addUp(
  variables: Readonly<Record<string, string>>,
  { org, acknowledged, built, pipelines }: Customer,
  receiver: Receiver,
): Promise<Sums> {
  const [pushed, paged] = [receiver.at('/pushed'), receiver.at('/paged')];
  const file = await readFiles(variables['FILE_OUTPUT_DIR'] ?? '');
  const core = await openCore(readEnv(variables), systemClock, createLog('silent'));
  try {
    const all = { limit: 1_000, offset: 0 };
    const rows = (await core.store.pipelines.list(org, all)).rows;
    const outputs = new Set((await core.store.connectors.list(org, 'output', all)).rows.map(({ id }) => id));
    const inputs = new Set((await core.store.connectors.list(org, 'input', all)).rows.map(({ id }) => id));
    const ends = rows.flatMap(({ nodes }) => nodes.map(({ component_id: id }) => id));
    const used = new Set(ends);
    const halves =
      ends.filter((id) => !inputs.has(id) && !outputs.has(id)).length +
      [...outputs].filter((id) => !used.has(id)).length +
      [...built].filter(([id, output]) => !rows.some((row) => row.id === id) || !outputs.has(output)).length;
    const state = createEngineState(core.database.queries);
    const [key = ''] = await state.keys(`cursor:${pipelines.paged}/`);
    const saved = (await state.get(key))?.value;
    const value = isRecord(saved) ? saved['value'] : undefined;
    const cursor = isRecord(value) && typeof value['next'] === 'number' ? value['next'] : 0;
    const places = [
      ...(await state.keys('cursor:')),
      ...(await state.keys('report:')),
      ...(await readdir(join(variables['DATA_DIR'] ?? '', 'engine', 'streams'))),
    ];
    const texts = acknowledged.map((n) => JSON.stringify({ n }));
    return {
      acknowledged: acknowledged.length,
      lostOverHttp: texts.filter((text) => !pushed.counts.has(text)).length,
      lostInFile: texts.filter((text) => !file.counts.has(text)).length,
      repeatedBatches: pushed.repeatedBatches,
      repeatedInFile: [...file.counts.values()].reduce((sum, count) => sum + count - 1, 0),
      broken: file.broken,
      cursor,
      cursorAhead: Math.max(0, cursor - paged.counts.size),
      repeatedPages: paged.repeatedBatches,
      built: built.size,
      halves,
      leftBehind: places.filter((place) => !rows.some(({ id }) => place.includes(id))).length,
    };
  } finally {
    await core.store.close();
  }
}

async function readFiles(folder: string): Promise<{ counts: Map<string, number>; broken: number }> {
  const counts = new Map<string, number>();
  let broken = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.includes('pushed')) continue;
    for (const line of (await readFile(join(folder, name), 'utf8')).split('\n')) {
      if (line === '') continue;
      if (/^\{"n":\d+\}$/.test(line)) counts.set(line, (counts.get(line) ?? 0) + 1);
      else broken += 1;
    }
  }
  return { counts, broken };
}
