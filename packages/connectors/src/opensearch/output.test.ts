import { afterEach, expect, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { createFakeCluster } from '../../../../test/support/fake-cluster.js';
import { attempt, noted, outputContext } from '../../../../test/support/output-attempt.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';
import { createOpensearchOutput } from './output.js';

const PASSWORD = 'canary/password "0004" ü+';
const AUTHORIZATION = `Basic ${Buffer.from(`writer:${PASSWORD}`).toString('base64')}`;
const configFor = (origin: string, changes: Record<string, unknown> = {}, secrets: Record<string, string> = {}) => ({
  settings: { url: origin, auth_mode: 'basic', username: 'writer', index: 'security-logs', ...changes },
  secrets: { password: PASSWORD, ...secrets },
});

runOutputContract('opensearch', {
  type: 'output:opensearch',
  at: (origin) => ({ create: createOpensearchOutput, config: configFor(origin) }),
  accept: (request) => createFakeCluster(AUTHORIZATION).respond(request),
});

let server: Vendor | undefined;
afterEach(() => server?.close());

const context = () => outputContext('output:opensearch');

test('a retry creates no duplicates', async () => {
  const cluster = createFakeCluster(AUTHORIZATION);
  const { origin } = (server = await startVendor(cluster.respond));
  const output = createOpensearchOutput(configFor(`${origin}/`), context());
  for (let n = 0; n < 2; n += 1) expect(await attempt(output, noted(2))).toEqual({ written: [0, 1], rejected: [] });
  expect([...cluster.documents.keys()]).toEqual(['batch-0.0', 'batch-0.1']);
});

test('trusts a configured CA for this connector only', async () => {
  const certificate = createCertificate('127.0.0.1');
  const { origin } = (server = await startVendor(createFakeCluster(AUTHORIZATION).respond, certificate));
  const shared = context();
  const theirs = createOpensearchOutput(configFor(origin, {}, { ca_certificate: certificate.cert }), shared);
  expect(await attempt(theirs, noted(1))).toMatchObject({ written: [0] });
  const others = createOpensearchOutput(configFor(origin), shared);
  expect((await attempt(others, noted(1))).failure?.code).toBe('tls_failed');
  const any = createOpensearchOutput(configFor(origin, { insecure_skip_verify: true }), shared);
  expect(await attempt(any, noted(1))).toMatchObject({ written: [0] });
  const none = createOpensearchOutput(configFor(origin, {}, { ca_certificate: 'nonsense' }), context());
  expect((await attempt(none, noted(1))).failure?.code).toBe('tls_failed');
});

test.each([
  [{ auth_mode: 'aws_role', role_arn: 'arn:aws:iam::1:role/x', region: 'us-east-1' }, 'unsupported'],
  [{ url: 'nonsense' }, 'invalid_config'],
  [{ index: '' }, 'invalid_config'],
  [{ username: '' }, 'invalid_config'],
])('rejects the configuration %j', (changes, code) => {
  expect(() => createOpensearchOutput(configFor('http://127.0.0.1:1', changes), context())).toThrow(
    expect.objectContaining({ code, kind: 'permanent' }),
  );
});
