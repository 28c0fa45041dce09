import { onTestFinished, expect, test, vi } from 'vitest';
import { loadCatalog } from '@connector-frame/catalog';
import { runTesterContract } from '../../../../../test/support/tester-contract.js';
import { PollWorld } from '../../../../../test/support/poll-driver.js';
import { google } from '../../../../../test/support/vendors/google.js';
import { okta } from '../../../../../test/support/vendors/okta.js';
import type { Input } from '@connector-frame/engine/connector-api';
import { Collector, graph, openWorld } from '@connector-frame/engine/testing';
import { connectors } from '../../index.js';
import { pollCode } from './index.js';

/** The runner commits cursors while workers start and stop and new events occur. */
test.each([okta, google])('$type, in a pipeline', async (vendor) => {
  const polled = await PollWorld.open(vendor);
  onTestFinished(() => polled.close());
  const type = loadCatalog().get('input', vendor.type);
  const createInput = (): Input => {
    const { egress, clock } = polled;
    const input = type && connectors(type).createInput?.(vendor.config, { type, egress, clock });
    if (input?.kind !== 'pages') throw new Error('no input');
    return { kind: 'pages', intervalMs: 10, pages: input.pages.bind(input) };
  };
  for (let index = 0; index < 20; index += 1) polled.happen(100_000 - index * 1_000);
  const world = await openWorld();
  const output = new Collector();
  const numbers = (): number[] => output.records.map((record) => Number(vendor.numberOf(record))).sort((a, b) => a - b);
  const createRunner = () =>
    world.runner({
      definition: graph('in out', 'in>out'),
      inputs: { in: createInput() },
      outputs: { out: output },
      holder: 'one',
    });
  for (let worker = 0; worker < 6; worker += 1) {
    const runner = createRunner();
    await runner.start();
    const before = output.records.length;
    await vi.waitFor(() => expect(output.records.length).toBeGreaterThan(before));
    await runner.stop();
    polled.happen(0, true);
    polled.advance(60_000);
  }
  const runner = createRunner();
  await runner.start();
  await vi.waitFor(() => expect(numbers()).toEqual(polled.numbers));
  expect(await runner.state()).toMatchObject({ status: 'Running' });
});

const type = loadCatalog().get('input', 'okta-systemlog');
if (!type) throw new Error('not in the catalog');
const { testConnection } = pollCode(type);
if (!testConnection) throw new Error('no tester');

// Okta has its own tester; the one derived from a `poll` definition must meet the same contract.
runTesterContract('a polled type', {
  type: 'input:okta-systemlog',
  at: (origin) => ({
    tester: testConnection,
    config: { settings: { org_url: origin }, secrets: { api_key: 'canary-okta-token-0000' } },
  }),
  respond: ({ url, headers }) =>
    url === '/api/v1/logs?limit=1' && headers.authorization === 'SSWS canary-okta-token-0000'
      ? { body: [{ uuid: '1', eventType: 'user.session.start' }] }
      : { status: 401, body: { errorCode: 'E0000011' } },
  summary: 'Read 1 record',
});
