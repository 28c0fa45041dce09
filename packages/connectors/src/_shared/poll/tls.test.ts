import type { PollDefinition } from '@connector-frame/catalog/types';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCertificate } from '../../../../../test/support/certificate.js';
import { typeOf } from '../../../../../test/support/connectors.js';
import { Driver, TestClock } from '../../../../../test/support/poll-driver.js';
import { startVendor, type Vendor } from '../../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createPollInput } from './input.js';

const certificate = createCertificate('127.0.0.1');
const type = typeOf('input', 'okta-systemlog');
const poll: PollDefinition = {
  verified: 'documented',
  documentation: [],
  base_url: '{{/settings/url}}',
  authentication: { kind: 'login', requests: [{ url: '/login' }], send: { cookies: 'all' } },
  streams: [
    {
      name: 'events',
      path: '/events',
      page_size: 10,
      records: { path: '' },
      pagination: { kind: 'none' },
      cursor: { kind: 'none' },
    },
  ],
  check: { path: '/events', records: { path: '' } },
};

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor(() => ({ body: [{ n: 1 }] }), certificate);
});
afterAll(() => vendor.close());

const polled = (settings: Record<string, unknown>): Driver => {
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  return new Driver(() => {
    const config = { settings: { url: vendor.origin, ...settings }, secrets: {} };
    const input = createPollInput(poll)(config, { type, egress, clock: new TestClock() });
    if (input.kind !== 'pages') throw new Error('no pages');
    return input;
  });
};

test.each([
  ['checks are off', { verify_ssl: false }],
  ['checks are off, by another name', { verify_certificate: false }],
  ['checks are off, by a third name', { use_ssl: false }],
  ['its authority is trusted, by another name', { ca_certificate_file_parsed_into_base64_string: certificate.cert }],
  ['its authority is trusted', { ca_certificate_file: certificate.cert }],
  ['its authority is trusted, in Base64', { ca_certificate_file: Buffer.from(certificate.cert).toString('base64') }],
])('reads from a server with its own certificate if %s', async (_name, settings) => {
  const driver = polled(settings);
  await driver.poll();
  expect(driver.numbers).toEqual([1]);
});

test('sends nothing to a server whose certificate is not trusted', async () => {
  const before = vendor.requests.length;
  for (const settings of [{}, { verify_ssl: true }])
    expect(await polled(settings).fails()).toMatchObject({ code: 'tls_failed' });
  expect(vendor.requests).toHaveLength(before);
});

test.each([
  ['ca_certificate_file', 'canary'],
  ['proxy_url', 'http://proxy.acme.com:3128'],
])('reports a %s that it can not use', (key, value) => {
  expect(() => polled({ [key]: value })).toThrow(
    expect.objectContaining({ code: 'invalid_config', kind: 'permanent' }),
  );
});
