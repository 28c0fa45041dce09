/**
 * S10: the egress guard through the API and the engine, for every connector type that opens
 * connections.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asWrite } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { targets } from '../../../../test/support/ssrf/targets.js';
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
    service = await createTestService({ database: await anyDatabase().open(), egress, run: {} });
    acme = await service.tenant('Northwind');
  });
  afterAll(() => service.close());

  const all = targets().map((target, index) => {
    const config = target.lead('rebind.example', 8_088);
    if (!config) throw new Error(target.name);
    const body = { name: `${index} ${target.name}`, type: target.type.type_id, config: asWrite(config) };
    return { target, body, path: `${target.type.kind}s` };
  });
  const call = async (method: string, path: string, body?: unknown) =>
    service.call(method, `/v2/${acme.team}/${path}`, { key: acme.key, body });

  it('is rejected in the connection test of every type', async () => {
    for (const { target, body, path } of all) {
      if (!target.code.testConnection) continue;
      const { status, body: answer } = await call('POST', `${path}/test-connection`, body);
      expect([target.name, status, answer.error_type]).toEqual([target.name, 400, 'egress_refused']);
    }
    expect(looked.length).toBeGreaterThanOrEqual(all.length - 3);
  });

  it('is rejected in the pipelines of every type and reported in their status', async () => {
    const pushed = await call('POST', 'inputs', { name: 'Pushed', type: 'monad-http', config: {} });
    const pipelines: { name: string; id: string }[] = [];
    for (const { target, body, path } of all) {
      if (!(target.code.createInput ?? target.code.createOutput)) continue;
      const made = await call('POST', path, body);
      expect([target.name, made.status]).toEqual([target.name, 200]);
      const ends =
        target.type.kind === 'input'
          ? { input_id: made.body.id }
          : { input_id: pushed.body.id, output: { id: made.body.id } };
      const built = await call('POST', 'integrations', { name: body.name, ...ends });
      expect([target.name, built.status]).toEqual([target.name, 201]);
      pipelines.push({ name: target.name, id: built.body.pipeline_id });
    }
    await service.engine?.append(pushed.body.id, ['{"n":1}']);
    const refused = async () => {
      const states = await Promise.all(pipelines.map(async ({ id }) => call('GET', `pipelines/${id}/status`)));
      return states.map(({ body }, index) => [pipelines[index]?.name, body.status, body.last_error?.code]);
    };
    await expect
      .poll(refused, { interval: 200 })
      .toEqual(pipelines.map(({ name }) => [name, 'Erroring', 'egress_refused']));
  });
});
