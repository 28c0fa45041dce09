import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ANY_ERROR, clientOf, openAlertWorld, type AlertWorld } from '../../../../test/support/alert-world.js';
import { embedded } from '../../../../test/support/databases.js';
import { startVendor } from '../../../../test/support/vendor.js';

/** An HTTP server that refuses everything until `accept` is set. */
async function receiver() {
  const state = { accept: false };
  const server = await startVendor(() => ({ status: state.accept ? 200 : 400, body: {} }));
  onTestFinished(() => server.close());
  const settings = { endpoint: `${server.origin}/records`, method: 'POST', payload_structure: 'array' };
  return { state, server, output: { type: 'http', config: { settings } } };
}

describe('alerts', () => {
  const databases = embedded();
  let world: AlertWorld;
  beforeAll(async () => {
    world = await openAlertWorld({ database: await databases.open() });
  });
  afterAll(async () => {
    await world.close();
    await databases.close();
  });

  it('fire within one evaluation when an output refuses records, stay one incident, and resolve', async () => {
    const client = clientOf(world, await world.service.tenant('Refusing'));
    const { state, output } = await receiver();
    const { input, pipeline } = await client.build(output);
    const rule = await client.rule('threshold-alert', ANY_ERROR);
    await world.step(3);
    expect(await client.alerts()).toEqual([]);
    await world.service.engine?.append(
      input,
      Array.from({ length: 50 }, (_, n) => `{"n":${n}}`),
    );
    const status = async () => (await client.must('GET', `/v2/~/pipelines/${pipeline}/status`)).status;
    await expect.poll(status).toBe('Erroring');
    await world.step();
    await expect.poll(async () => (await client.alerts()).length).toBe(1);
    const [fired] = await client.alerts();
    console.log(JSON.stringify(fired, null, 1));
    state.accept = true;
    await client.must('POST', `/v1/~/pipelines/${pipeline}/retry`);
    const resolved = await world.until(async () => (await client.alerts()).find((a) => a.status.state === 'RESOLVED'));
    console.log(JSON.stringify(resolved, null, 1), rule, world.seconds() - resolved.created_at);
  });
});
