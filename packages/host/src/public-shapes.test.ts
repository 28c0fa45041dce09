import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { publicService } from '../../../test/support/public-service.js';
import { get, post, startHost } from '../../../test/support/start-host.js';
import type { HostOptions } from './host-options.js';

// The fake is built from the shapes of the public API's documents, not from this project's service.

let hosts: Awaited<ReturnType<typeof startHost>>;
let service: ReturnType<typeof publicService>;

beforeEach(async () => {
  hosts = await startHost();
  service = publicService();
});
afterEach(() => hosts.close());

const create = (options: Partial<HostOptions> = {}) =>
  hosts.create({ fetch: service.fetch, authorizeTenant: () => service.org, ...options });
const json = async (answer: Promise<Response>): Promise<unknown> => (await answer).json();

test('a session without an organization belongs to the requested one', async () => {
  expect(await json(create()(post('/api/session', { tenantId: 'acme' })))).toEqual({
    session_token: 'token-1',
    expires_at: '2026-11-12T10:30:00Z',
    organizationId: service.org,
  });
});

test('lists types and connectors; null is an empty list', async () => {
  const host = create();
  expect(await json(host(get('/api/catalog?kind=output')))).toMatchObject([
    { type_id: 'okta-systemlog' },
    { type_id: 's3' },
  ]);
  expect(await json(host(get('/api/connectors?kind=output&tenantId=acme')))).toEqual([]);
  const id = service.addOutput();
  expect(await json(host(get('/api/connectors?kind=output&tenantId=acme')))).toEqual([
    { id, type_id: 's3', name: 'Archive', description: '' },
  ]);
});

test('builds, reads, pauses, resumes and deletes a pipeline that discards its records', async () => {
  const host = create();
  const inputId = service.addInput();
  const built = await json(host(post('/api/build-pipeline', { tenantId: 'acme', inputId, inputName: 'Web' })));
  const [pipelineId] = service.pipelines.keys();
  const [outputId] = service.outputs.keys();
  expect(built).toEqual({ pipelineId, outputId, status: 'Running', active: true });
  const act = (action: string) => host(post('/api/integration-action', { tenantId: 'acme', action, inputId }));
  const state = { hasPipeline: true, pipelineId, outputId };
  expect(await json(act('status'))).toEqual({ ...state, enabled: true, status: 'Running' });
  expect(await json(act('pause'))).toEqual({ ...state, enabled: false, status: 'Disabled' });
  expect(await json(act('resume'))).toEqual({ ...state, enabled: true, status: 'Running' });
  expect((await act('delete')).status).toBe(204);
  expect([service.pipelines.size, service.inputs.size, service.outputs.size]).toEqual([0, 0, 0]);
});

describe('a pipeline to an existing output', () => {
  test('is created by the public API if the service has no atomic route', async () => {
    const ids = { inputId: service.addInput(), outputId: service.addOutput() };
    const built = await json(create()(post('/api/build-pipeline', { tenantId: 'acme', inputName: 'Web', ...ids })));
    const [pipeline] = service.pipelines.values();
    expect(built).toEqual({ pipelineId: pipeline?.['id'], outputId: ids.outputId, status: 'Running', active: true });
    expect(pipeline).toMatchObject({
      name: 'Web',
      nodes: [
        { slug: 'input', component_id: ids.inputId, component_type: 'input', enabled: true },
        { slug: 'output', component_id: ids.outputId, component_type: 'output', enabled: true },
      ],
      edges: [{ from_node_instance_id: 'input', to_node_instance_id: 'output', conditions: { operator: 'always' } }],
    });
    expect(service.outputs.size).toBe(1);
  });

  test('is found again by its output', async () => {
    const ids = { inputId: service.addInput(), outputId: service.addOutput() };
    const host = create({ routes: 'separate' });
    const egress = () => json(host(post('/api/egress', { tenantId: 'acme', inputName: 'Web', ...ids })));
    expect(await egress()).toEqual(await egress());
    expect(service.pipelines.size).toBe(1);
  });
});
