/** `npm run verify-type` against documented requests and responses: what its report says, and hides. */
import { loadCatalog, type ConnectorConfig } from '@connector-frame/catalog';
import { validateConfig } from '@connector-frame/catalog/validate';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectors } from '../../packages/connectors/src/index.js';
// @ts-expect-error -- a script without types
import { verifyType } from '../../scripts/lib/verify-type.mjs';
import { DocumentedVendor, readDocumented, type DocumentedInput } from '../support/documented-exchanges.js';
import { leadTo, TestClock } from '../support/poll-driver.js';
import { secretsOf } from '../support/secret-texts.js';
import { startVendor, type Vendor } from '../support/vendor.js';

const [, documented] = readDocumented<DocumentedInput>('input').find(([id]) => id === 'tailscale-devices') ?? [];
if (!documented) throw new Error('The documentation of tailscale-devices is missing.');
const { config, exchanges } = documented;

let vendor: DocumentedVendor;
let server: Vendor;
let report: string[];
beforeEach(async () => {
  vendor = new DocumentedVendor(exchanges);
  report = [];
  server = await startVendor((request) => vendor.respond(request, String(request.headers['x-asked-origin'])));
});
afterEach(() => server.close());

function verify(given: ConnectorConfig): Promise<boolean> {
  const type = loadCatalog().get('input', 'tailscale-devices');
  if (!type) throw new Error('no such type');
  const egress = leadTo(server.origin, vendor.origins, () => undefined);
  const print = (line: string): void => void report.push(line);
  const code = connectors(type);
  const options = { type, config: given, code, validate: validateConfig, egress, clock: new TestClock(), print };
  return (verifyType as (options: object) => Promise<boolean>)(options);
}

test('reports what was requested and read, with names of fields only', async () => {
  expect(await verify(config)).toBe(true);
  const text = report.join('\n');
  expect(text).toContain('connection test: Read 0 records');
  expect(text).toContain('first read: 1 record on 1 page');
  expect(text).toContain('clientVersion, created');
  expect(text).toContain('second read: 1 record, 1 of them again');
  expect(text).toContain('request: POST api.tailscale.com/api/v2/oauth/token: 200');
  expect(text).toContain('request: GET api.tailscale.com/api/v2/tailnet/example.com/devices (fields): 200');
  for (const hidden of [...secretsOf(config.secrets), 'pangolin', 'tskey-api']) expect(text).not.toContain(hidden);
});

test('fails with a wrong secret, and does not show it', async () => {
  expect(await verify({ ...config, secrets: { client_id: 'canary-id', client_secret: 'tskey-client-canary' } })).toBe(
    false,
  );
  expect(report.join('\n')).toMatch(/connection test: \w+, /);
  expect(report.join('\n')).not.toContain('canary');
});

test('names the fields that are wrong, without their values', async () => {
  expect(await verify({ settings: { cron: 'canary' }, secrets: {} })).toBe(false);
  expect(report.join('\n')).toContain('configuration: /secrets/client_id');
  expect(report.join('\n')).not.toContain('canary');
});
