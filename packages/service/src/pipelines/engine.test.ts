import { afterAll, beforeAll, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { noEngine } from './engine.js';

const heard: string[] = [];
let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  service = await createTestService({
    database: await anyDatabase().open(),
    engine: {
      ...noEngine,
      status: async (pipeline) => ({ ...(await noEngine.status(pipeline)), status: 'Pending', waiting: 7 }),
      changed: (id) => void heard.push(id),
    },
  });
  acme = await service.tenant('Northwind');
});
afterAll(() => service.store.close());

const send = (method: string, path: string, body?: unknown) =>
  service.call(method, path.replace('~', acme.team), { key: acme.key, ...(body === undefined ? {} : { body }) });
/** Returns the pipeline ids that the engine is notified of while `work` runs. */
const during = async (work: () => Promise<{ status: number }>) => {
  heard.length = 0;
  expect((await work()).status).toBeLessThan(300);
  return [...heard];
};

it('the engine is notified of every change to a pipeline and its components, and provides its status', async () => {
  const input = (await send('POST', '/v2/~/inputs', exampleBody(typeOf('input', 'demo')))).body.id;
  const transform = (await send('POST', '/v2/~/transforms', { name: 'T', config: { operations: [] } })).body.id;
  expect(heard).toEqual([]);

  const built = await send('POST', '/v2/~/integrations', { input_id: input, name: 'Web' });
  const { pipeline_id: id, output_id: output } = built.body;
  expect([heard.splice(0), built.body.status]).toEqual([[id], 'Pending']);
  const read = await send('GET', `/v2/~/pipelines/${id}/status`);
  expect(read.body).toMatchObject({ pipeline_id: id, status: 'Pending', waiting: 7 });

  const nodes = Object.entries({ input, transform, output }).map(([slug, component_id]) => ({
    slug,
    component_id,
    component_type: slug,
  }));
  const edges = [
    { from_node_instance_id: 'input', to_node_instance_id: 'transform' },
    { from_node_instance_id: 'transform', to_node_instance_id: 'output' },
  ];
  expect(await during(() => send('PATCH', `/v2/~/pipelines/${id}`, { nodes, edges }))).toEqual([id]);
  expect(await during(() => send('PATCH', `/v1/~/pipelines/${id}`, { enabled: false }))).toEqual([id]);
  expect(await during(() => send('PATCH', `/v2/~/inputs/${input}`, { name: 'Renamed' }))).toEqual([id]);
  expect(await during(() => send('PATCH', `/v2/~/outputs/${output}`, { description: 'd' }))).toEqual([id]);
  expect(await during(() => send('PATCH', `/v2/~/transforms/${transform}`, { name: 'U' }))).toEqual([id]);
  expect(await during(() => send('DELETE', `/v2/~/pipelines/${id}`))).toEqual([id]);
  const second = await send('POST', '/v2/~/pipelines', { name: 'P', nodes, edges });
  expect(heard).toContain(second.body.id);
  const removal = { pipeline_id: second.body.id, cleanup: { pipeline: true } };
  expect(await during(() => send('POST', '/v2/~/integrations/delete', removal))).toEqual([second.body.id]);
  const third = (await send('POST', '/v2/~/pipelines', { name: 'P' })).body.id;
  const team = `/v3/${acme.id}/organizations/~`;
  expect(await during(() => send('DELETE', team))).toEqual([third]);
});

it('the engine is not notified of rejected changes', async () => {
  const { body: team } = await send('POST', `/v3/${acme.id}/organizations`, { name: 'New' });
  acme = { ...acme, team: team.id };
  heard.length = 0;
  const nodes = [{ slug: 'input', component_id: 'nowhere', component_type: 'input' }];
  expect((await send('POST', '/v2/~/pipelines', { name: 'P', nodes, edges: [] })).status).toBe(400);
  expect((await send('POST', '/v2/~/integrations', { input_id: 'nowhere', name: 'Web' })).status).toBe(400);
  expect((await send('PATCH', '/v2/~/pipelines/nowhere', { enabled: false })).status).toBe(404);
  expect(heard).toEqual([]);
});
