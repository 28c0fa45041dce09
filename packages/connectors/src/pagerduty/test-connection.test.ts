import { afterEach, expect, test } from 'vitest';
import { runTester } from '../../../../test/support/run-tester.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { PAGERDUTY_KEY, pagerDuty } from '../../../../test/support/vendors/pagerduty.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';
import { createPagerDutyTester } from './test-connection.js';

const config = {
  settings: { default_event_type: 'alert' },
  secrets: { routing_key: PAGERDUTY_KEY, auth_token: 'canary-token' },
};

runTesterContract('pagerduty', {
  type: 'output:pagerduty',
  at: (origin) => ({ tester: createPagerDutyTester({ api: origin }), config }),
  respond: pagerDuty,
  summary: 'PagerDuty accepted the integration key',
});

let server: Vendor | undefined;
afterEach(() => server?.close());

test('reports a wrong key on its field, and opens no alert', async () => {
  const { origin } = (server = await startVendor(pagerDuty));
  const tester = createPagerDutyTester({ api: origin });
  expect(await runTester(tester, { ...config, secrets: { routing_key: 'x'.repeat(32) } })).toMatchObject({
    reason: 'invalid_credentials',
    issues: [{ path: '/secrets/routing_key' }],
  });
  await runTester(tester, config);
  expect(server.requests.map(({ body }): unknown => JSON.parse(body).event_action)).toEqual(['resolve', 'resolve']);
});
