import { afterEach, expect, test } from 'vitest';
import { runTester } from '../../../../test/support/run-tester.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';
import { createDatadogTester } from './test-connection.js';

const KEY = 'canary0datadog0key0123456789abcd';
const config = {
  settings: { domain_url: 'https://http-intake.logs.us3.datadoghq.com/api/v2/logs' },
  secrets: { api_key: KEY },
};

runTesterContract('datadog', {
  type: 'output:datadog',
  at: (origin) => ({ tester: createDatadogTester({ apiOf: () => origin }), config }),
  respond: ({ url, headers }) =>
    url === '/api/v1/validate' && headers['dd-api-key'] === KEY
      ? { body: { valid: true } }
      : { status: 403, body: { errors: ['Forbidden'] } },
  summary: 'Datadog accepted the API key',
});

let server: Vendor | undefined;
afterEach(() => server?.close());

test('a wrong key is told on its field', async () => {
  const { origin } = (server = await startVendor(() => ({ status: 403, body: { errors: ['Forbidden'] } })));
  expect(await runTester(createDatadogTester({ apiOf: () => origin }), config)).toMatchObject({
    reason: 'invalid_credentials',
    issues: [{ path: '/secrets/api_key' }],
  });
});

test.each([
  ['https://http-intake.logs.datadoghq.com', 'datadoghq.com'],
  ['datadoghq.eu', 'datadoghq.eu'],
  ['https://app.us5.datadoghq.com/logs', 'us5.datadoghq.com'],
  ['HTTPS://API.AP1.DATADOGHQ.COM', 'ap1.datadoghq.com'],
  ['https://ddog-gov.com', 'ddog-gov.com'],
])('%s belongs to the site %s', async (domain_url, expected) => {
  const { origin } = (server = await startVendor(() => ({ body: { valid: true } })));
  const seen: string[] = [];
  const tester = createDatadogTester({ apiOf: (site) => (seen.push(site), origin) });
  expect(await runTester(tester, { ...config, settings: { domain_url } })).toMatchObject({ ok: true });
  expect(seen).toEqual([expected]);
});

test.each(['https://evil.example', 'https://datadoghq.com.evil.example', 'https://notdatadoghq.com', '', 'http://['])(
  'the key is not sent to "%s"',
  async (domain_url) => {
    const tester = createDatadogTester({ apiOf: () => 'http://127.0.0.1:1' });
    expect(await runTester(tester, { ...config, settings: { domain_url } })).toMatchObject({
      reason: 'invalid_config',
      issues: [{ path: '/settings/domain_url' }],
    });
  },
);
