import {
  buildDevNullPipeline,
  CLEANUP_FULL,
  CLEANUP_KEEP_OUTPUT,
  deleteIntegration,
  disableIntegration,
  enableIntegration,
  findIntegrationPipeline,
  type IntegrationScope,
} from '@connector-frame/core/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../support/connectors.js';
import { eachDatabase } from '../support/databases.js';
import { createTestService, type Tenant, type TestService } from '../support/service.js';

/**
 * Core's lifecycle helpers on the real service: one request each, and no data loss in the
 * step-by-step fallback.
 */
describe.each(eachDatabase())('lifecycle helpers on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  const requests: string[] = [];

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  /**
   * Creates a scope on the service.
   * @param without endpoints that respond with 404, as in a service without them
   */
  const scope = (without?: RegExp): IntegrationScope => ({
    org: acme.team,
    async request(path, { method = 'GET', body, headers } = {}) {
      requests.push(`${method} ${path.replaceAll(/[\w-]{36}/g, '~')}`);
      if (without?.test(`${method} ${path}`)) throw Object.assign(new Error('no such address'), { status: 404 });
      const response = await service.call(method, path, {
        key: acme.key,
        headers: Object.fromEntries(new Headers(headers)),
        ...(typeof body === 'string' ? { body } : {}),
      });
      if (response.status >= 300) throw Object.assign(new Error(response.text), { status: response.status });
      return response.text === '' ? undefined : response.body;
    },
  });
  const input = async (): Promise<string> =>
    (
      await service.call('POST', `/v2/${acme.team}/inputs`, {
        key: acme.key,
        body: exampleBody(typeOf('input', 'demo')),
      })
    ).body.id;
  const counted = async <T>(work: Promise<T>): Promise<[T, string[]]> => {
    const result = await work;
    return [result, requests.splice(0)];
  };
  const exists = async (path: string) =>
    (await service.call('GET', path.replace('~', acme.team), { key: acme.key })).status === 200;

  it('take one request each', async () => {
    const inputId = await input();
    requests.length = 0;
    const [built, building] = await counted(
      buildDevNullPipeline({ ...scope(), inputId, inputName: 'Web', runningTimeout: 0 }),
    );
    const { pipelineId, outputId } = built;
    expect([built.status, built.active, building]).toEqual(['Unknown', false, ['POST /v2/~/integrations']]);
    const found = { org: acme.team, pipelineId, enabled: true, inputId, outputId };
    expect(await counted(findIntegrationPipeline({ ...scope(), inputId }))).toEqual([found, ['GET /v1/~/inputs/~']]);
    const [, toggling] = await counted(disableIntegration({ ...scope(), pipelineId }));
    expect(toggling).toEqual(['PATCH /v1/~/pipelines/~']);
    expect(await findIntegrationPipeline({ ...scope(), inputId })).toEqual({ ...found, enabled: false });
    await enableIntegration({ ...scope(), pipelineId });
    requests.length = 0;
    const ids = { pipelineId, inputId, outputId };
    const [, deleting] = await counted(deleteIntegration({ ...scope(), ...ids, cleanup: CLEANUP_KEEP_OUTPUT }));
    expect(deleting).toEqual(['POST /v2/~/integrations/delete']);
    expect([await exists(`/v1/~/inputs/${inputId}`), await exists(`/v1/~/outputs/${outputId}`)]).toEqual([false, true]);
    await deleteIntegration({ ...scope(), ...ids, cleanup: CLEANUP_FULL });
    expect(await exists(`/v1/~/outputs/${outputId}`)).toBe(false);
  });

  it('do the same step by step', async () => {
    const inputId = await input();
    const stepwise = scope(/\/integrations|PATCH \/v1/);
    const { pipelineId, outputId } = await buildDevNullPipeline({
      ...stepwise,
      inputId,
      inputName: 'Web',
      runningTimeout: 0,
    });
    const path = `/v2/${acme.team}/pipelines/${pipelineId}`;
    const before = (await service.call('GET', path, { key: acme.key })).body;
    await disableIntegration({ ...stepwise, pipelineId });
    const after = (await service.call('GET', path, { key: acme.key })).body;
    expect(after).toEqual({ ...before, enabled: false, version: 2 });
    // The input does not name its pipeline; the pipeline list does.
    const found = await findIntegrationPipeline({ ...scope(/GET \/v1\/[^/]+\/inputs/), inputId });
    expect(found).toMatchObject({ pipelineId, outputId, enabled: false });
    await deleteIntegration({ ...stepwise, pipelineId, inputId, outputId, cleanup: CLEANUP_FULL });
    expect([await exists(path), await exists(`/v1/~/inputs/${inputId}`)]).toEqual([false, false]);
  });

  it('build nothing from a missing input, in one request', async () => {
    const inputId = '00000000-0000-4000-8000-000000000000';
    requests.length = 0;
    const building = buildDevNullPipeline({ ...scope(), inputId, inputName: 'Web' });
    await expect(building).rejects.toMatchObject({ status: 400 });
    expect(requests).toEqual(['POST /v2/~/integrations']);
  });
});
