/**
 * S10: the egress guard through the API and the engine, for every connector type that opens
 * connections.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asWrite, writePath } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { throughEnrichment } from '../../../../test/support/enrichments-api.js';
import { dailyPart } from '../../../../test/support/long.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { runs, targets } from '../../../../test/support/ssrf/targets.js';
import { createEgress } from '@connector-frame/engine/egress';

const looked: string[] = [];
const lookup = (name: string): Promise<string[]> => {
  looked.push(name);
  return Promise.resolve(['169.254.169.254']);
};

describe('a host name that resolves to a cloud metadata address (S10, S35)', () => {
  let service: TestService;
  let acme: Tenant;
  beforeAll(async () => {
    const egress = createEgress({ allow: [], lookup });
    service = await createTestService({
      database: await anyDatabase().open(),
      egress,
      aws: { keys: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' }, region: 'us-east-1' },
      run: {},
    });
    acme = await service.tenant('Northwind');
  });
  afterAll(() => service.close());

  const all = dailyPart(targets(), 4).map((target, index) => {
    const config = target.lead('rebind.example', 8_088);
    if (!config) throw new Error(target.name);
    const body = { name: `${index} ${target.name}`, type: target.type.type_id, config: asWrite(config) };
    return { target, body };
  });
  const call = async (method: string, path: string, body?: unknown) =>
    service.call(method, `/v2/${acme.team}/${path}`, { key: acme.key, body });

  it('is rejected in the connection test of every type', async () => {
    for (const { target, body } of all) {
      if (!target.code.testConnection) continue;
      const path = `${writePath(acme.team, target.type.kind)}/test-connection`;
      const { status, body: answer } = await service.call('POST', path, { key: acme.key, body });
      expect([target.name, status, answer.error_type]).toEqual([target.name, 400, 'egress_refused']);
    }
    expect(looked.length).toBeGreaterThanOrEqual(all.length - 3);
  });

  it('is rejected in the pipelines of every type and reported in their status', async () => {
    const pushed = await call('POST', 'inputs', { name: 'Pushed', type: 'monad-http', config: {} });
    const pipelines: { name: string; id: string }[] = [];
    const nowhere = await call('POST', 'outputs', { name: 'Nowhere', type: 'dev-null', config: {} });
    for (const { target, body } of all) {
      if (!runs(target.code)) continue;
      const { kind } = target.type;
      const made = await service.call('POST', writePath(acme.team, kind), { key: acme.key, body });
      expect([target.name, made.status]).toEqual([target.name, 200]);
      const { id } = made.body;
      const ends = kind === 'input' ? { input_id: id } : { input_id: pushed.body.id, output: { id } };
      const built =
        kind === 'enrichment'
          ? await call('POST', 'pipelines', {
              name: body.name,
              ...throughEnrichment(pushed.body.id, id, nowhere.body.id),
            })
          : await call('POST', 'integrations', { name: body.name, ...ends });
      expect([target.name, built.status]).toEqual([target.name, 201]);
      pipelines.push({ name: target.name, id: built.body.pipeline_id ?? built.body.id });
    }
    // With the values that the examples of enrichments look up.
    await service.engine?.append(pushed.body.id, ['{"n":1,"actor":{"id":"u-1"},"source":{"ip":"1.2.3.4"}}']);
    const refused = async () => {
      const states = await Promise.all(pipelines.map(async ({ id }) => call('GET', `pipelines/${id}/status`)));
      return states.map(({ body }, index) => [pipelines[index]?.name, body.status, body.last_error?.code]);
    };
    await expect
      .poll(refused, { interval: 200 })
      .toEqual(pipelines.map(({ name }) => [name, 'Erroring', 'egress_refused']));
  });
});
