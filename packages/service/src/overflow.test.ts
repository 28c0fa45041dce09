import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newDataFolder } from '../../../test/support/data-folder.js';
import { writeForm } from '../../../test/support/form-assets.js';
import { API_KEY, operatorsEnvironment } from '../../../test/support/operator.js';
import { serve } from '../../../test/support/serve.js';
import { connectClient, type ServiceClient } from '../../../test/support/service-client.js';
import { buildService, mustStart, type ServiceProcess } from '../../../test/support/service-process.js';
import { long } from '../../../test/support/long.js';

const TEXT = 'x'.repeat(1_000);
/** Records per request, of 1 KB each. */
const REQUEST = 200;
const TOTAL = 6_000;

async function build(client: ServiceClient, origin: string, overflow?: object) {
  const output = (path: string) =>
    client.make('outputs', 'http', { endpoint: origin + path, method: 'POST', payload_structure: 'array' });
  const input = await client.make('inputs', 'monad-http');
  const nodes = [
    { slug: 'input', component_id: input, component_type: 'input' },
    { slug: 'healthy', component_id: await output('/healthy'), component_type: 'output' },
    { slug: 'dead', component_id: await output('/dead'), component_type: 'output' },
  ];
  const edges = ['healthy', 'dead'].map((to) => ({
    from_node_instance_id: 'input',
    to_node_instance_id: to,
    ...(to === 'dead' && overflow && { overflow }),
  }));
  const { id } = await client.must<{ id: string }>('POST', '/v2/~/pipelines', { name: 'P', nodes, edges });
  return { id, input };
}

/** Sends records from number `from` on; returns the status of the last response. */
async function send(client: ServiceClient, service: ServiceProcess, input: string, from: number, count: number) {
  const { url, token } = await client.ingestOf(input);
  let status = 0;
  for (let n = from; n < from + count && (status === 0 || status === 200); n += REQUEST) {
    const lines = Array.from({ length: REQUEST }, (_, index) => JSON.stringify({ n: n + index, text: TEXT }));
    const response = await fetch(service.url + new URL(url).pathname, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: lines.join('\n'),
    });
    await response.text();
    ({ status } = response);
  }
  return status;
}

/** The service in a process of its own, with a destination that is down beside one that is up. */
describe('the service with one output that is down beside a healthy one', () => {
  let form: Awaited<ReturnType<typeof writeForm>>;
  beforeAll(async () => {
    buildService();
    form = await writeForm();
  });
  afterAll(() => form.remove());

  async function open() {
    const folder = await newDataFolder('overflow');
    const got = { healthy: new Set<number>(), dead: new Set<number>() };
    const state = { deadIsUp: false };
    const site = await serve((request, response) => {
      const isDead = request.url === '/dead';
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        if (isDead && !state.deadIsUp) response.statusCode = 503;
        else for (const { n } of JSON.parse(body)) got[isDead ? 'dead' : 'healthy'].add(n);
        response.end();
      });
    });
    onTestFinished(async () => {
      await site.close();
      await rm(folder, { recursive: true, force: true });
    });
    const environment = {
      ...operatorsEnvironment(folder, form.folder),
      EGRESS_ALLOW: '127.0.0.1/32',
      OUTPUT_BUFFER_BYTES: '2097152',
    };
    const start = async () => {
      const service = await mustStart(environment);
      onTestFinished(() => service.kill('SIGKILL'));
      return { service, client: await connectClient(service, API_KEY) };
    };
    return { got, state, origin: site.origin, start };
  }

  it('and drop_newest accepts all records, delivers them to the healthy one and counts the dropped ones', async () => {
    const world = await open();
    const first = await world.start();
    const { id, input } = await build(first.client, world.origin, { policy: 'drop_newest' });
    expect(await send(first.client, first.service, input, 0, TOTAL)).toBe(200);
    await expect.poll(() => world.got.healthy.size).toBe(TOTAL);
    const state = await first.client.status(id);
    expect(state.dropped).toBeGreaterThan(3_000);
    expect(state.dropped).toBeLessThan(5_000);
    expect(state.nodes.map((node) => [node.node_slug, node.dropped])).toEqual([
      ['input', 0],
      ['healthy', 0],
      ['dead', state.dropped],
    ]);
    const logs = async () =>
      (await first.client.must<{ entries: { code: string }[] }>('GET', `/v2/~/pipelines/${id}/logs`)).entries.filter(
        ({ code }) => code === 'output_overflow',
      );
    await expect.poll(logs).toHaveLength(1);
    const metrics = async () => (await fetch(`${first.service.url}/metrics`)).text();
    await expect.poll(metrics, { timeout: 30_000 }).toContain(`pipeline_dropped_total ${state.dropped}\n`);
    first.service.kill('SIGKILL');
    await first.service.exited;

    world.state.deadIsUp = true;
    const second = await world.start();
    await expect.poll(() => second.client.status(id)).toMatchObject({ status: 'Running', waiting: 0 });
    expect((await second.client.status(id)).dropped).toBe(state.dropped);
    expect(world.got.dead.size).toBe(TOTAL - state.dropped);
    expect(await send(second.client, second.service, input, TOTAL, REQUEST)).toBe(200);
    await expect.poll(() => world.got.dead.has(TOTAL + REQUEST - 1)).toBe(true);
  }, 120_000);

  it.runIf(long)(
    'and the default policy responds 429 when the budget is used up, until the output is up again',
    async () => {
      const world = await open();
      const { service, client } = await world.start();
      const { id, input } = await build(client, world.origin);
      expect(await send(client, service, input, 0, TOTAL)).toBe(429);
      const stored = (await client.status(id)).ingress.records;
      expect(stored).toBeLessThan(2_500);
      await expect.poll(() => world.got.healthy.size).toBe(stored);
      world.state.deadIsUp = true;
      await expect.poll(() => world.got.dead.size, { timeout: 60_000 }).toBe(stored);
      expect(await send(client, service, input, TOTAL, REQUEST)).toBe(200);
      expect((await client.status(id)).dropped).toBe(0);
    },
    120_000,
  );
});
