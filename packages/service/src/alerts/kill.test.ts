import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { writeForm } from '../../../../test/support/form-assets.js';
import { long } from '../../../../test/support/long.js';
import { buildService } from '../../../../test/support/service-process.js';
import { callerOf, startChild, type Call } from '../testing/service-child.js';

const KEY = 'an-operators-own-key-0123456789';
const KILLS = 8;

interface EventShape {
  id: string;
  event: string;
  fired_at: number;
  metadata: { pipeline_id: string };
}
const nameOf = ({ id, event, fired_at: firedAt }: EventShape): string => `${id} ${event} ${firedAt}`;

/** A webhook that counts, by event, the keys of the requests it came in. */
async function startWebhook() {
  const keys = new Map<string, Set<string>>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('error', () => undefined);
    request.on('end', () => {
      const name = nameOf(JSON.parse(body));
      const known = keys.get(name) ?? new Set();
      keys.set(name, known.add(String(request.headers['idempotency-key'])));
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { keys, url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/` };
}

async function must(call: Call, method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await call(method, path, body);
  if (!response) throw new Error(`${method} ${path} was refused.`);
  return response;
}

/** Reads what happened to alerts until nothing is sent for two seconds. */
async function readEvents(url: string, org: string): Promise<EventShape[]> {
  const stop = new AbortController();
  const response = await fetch(`${url}/v3/${org}/alerts/stream?last=1h`, {
    headers: { 'x-api-key': KEY },
    signal: stop.signal,
  });
  let text = '';
  let timer = setTimeout(() => stop.abort(), 2_000);
  try {
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), 2_000);
    }
  } catch {
    // Aborted.
  }
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']): EventShape => JSON.parse(json));
}

it.runIf(long)(
  `lose and repeat no event of an alert in ${KILLS} random kills`,
  async () => {
    buildService();
    const [form, folder, webhook] = [
      await writeForm(),
      await mkdtemp(join(tmpdir(), 'alert-kills-')),
      await startWebhook(),
    ];
    onTestFinished(async () => {
      await form.remove();
      await rm(folder, { recursive: true, force: true });
    });
    const variables = {
      DATA_DIR: join(folder, 'data'),
      FORM_DIR: form.folder,
      EGRESS_ALLOW: '127.0.0.1/32',
      BOOTSTRAP_ORGANIZATION: 'Northwind',
      SERVICE_API_KEY: KEY,
      RATE_LIMIT_KEY: 'off',
      RATE_LIMIT_ORGANIZATION: 'off',
    };
    let org = '';
    let deliverer = '';
    const built = new Set<string>();

    async function start() {
      const child = startChild(variables);
      const url = await child.url;
      if (url === undefined) throw new Error(`The service did not start: ${(await child.ended).stderr}`);
      return { child, url, call: callerOf(url, KEY) };
    }
    async function setUp(call: Call): Promise<void> {
      org = String((await must(call, 'GET', '/v3/api-keys/current'))['organization_id']);
      const make = (type: string) => must(call, 'POST', `/v2/${org}/inputs`, { name: type, type, config: {} });
      // An array that is interrupted by a kill may contain more records when it is sent again.
      const settings = { endpoint: webhook.url, method: 'POST', payload_structure: 'single' };
      const output = { type: 'http', config: { settings } };
      const integration = { input_id: (await make('monad-alerts'))['id'], name: 'Alerts', output };
      deliverer = String((await must(call, 'POST', `/v2/${org}/integrations`, integration))['pipeline_id']);
      const rule_config = { settings: { levels: ['info'], dedupe_window: '30s' } };
      const rule = { name: 'Any entry', type: 'monad-log-alert', severity: 'info', rule_config };
      await must(call, 'POST', `/v3/${org}/alert_rules`, rule);
    }
    /** Builds pipelines, whose start fires an alert, and removes some, which ends it. */
    async function work(call: Call, until: number): Promise<void> {
      const input = await call('POST', `/v2/${org}/inputs`, { name: 'In', type: 'monad-http', config: {} });
      if (!input) return;
      while (Date.now() < until) {
        const made = await call('POST', `/v2/${org}/integrations`, { input_id: input['id'], name: 'Short' });
        if (made) built.add(String(made['pipeline_id']));
        const [first] = built;
        if (first !== undefined && built.size > 5 && (await call('DELETE', `/v2/${org}/pipelines/${first}`)))
          built.delete(first);
        await pause(50);
      }
    }

    for (let cycle = 0; cycle < KILLS; cycle += 1) {
      const { child, call } = await start();
      if (org === '') await setUp(call);
      await work(call, Date.now() + 2_000 + Math.random() * 12_000);
      child.kill('SIGKILL');
      await child.ended;
    }
    const { child, url } = await start();
    const events = async () =>
      (await readEvents(url, org)).filter(({ metadata }) => metadata.pipeline_id !== deliverer);
    let all: EventShape[] = [];
    // Alerts go on resolving meanwhile, so what is stored and what has arrived are compared until they are the same.
    const differences = async (): Promise<string[]> => {
      all = await events();
      const stored = new Set(all.map(nameOf));
      return [
        ...[...stored].filter((name) => !webhook.keys.has(name)).map((name) => `not delivered: ${name}`),
        ...[...webhook.keys.keys()].filter((name) => !stored.has(name)).map((name) => `not stored: ${name}`),
      ];
    };
    await expect.poll(differences, { timeout: 180_000 }).toEqual([]);
    child.kill('SIGTERM');
    await child.ended;
    expect(all.length).toBeGreaterThan(KILLS * 5);
    expect(new Set(all.map(nameOf)).size).toBe(all.length);
    // A receiver tells a request that was interrupted by a kill from a new one by its key.
    expect([...webhook.keys.values()].filter(({ size }) => size > 1)).toEqual([]);
  },
  600_000,
);
