import { afterEach, expect, test } from 'vitest';
import { runTester } from '../../../../test/support/run-tester.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { startVendor, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createGithubAuditLogTester } from './test-connection.js';
import type { TestOutcome } from '@connector-frame/engine/connector-api';

const TOKEN = 'ghp_canaryGithubToken0123456789';
const config = {
  settings: { enterprise: 'acme', include: 'web' },
  secrets: { personal_access_token: TOKEN },
};
const entry = { '@timestamp': 1767225600000, action: 'team.create', actor: 'octocat' };

runTesterContract('github-audit-logs', {
  type: 'input:github-audit-logs',
  at: (baseUrl) => ({ tester: createGithubAuditLogTester({ baseUrl }), config }),
  respond: ({ url, headers }) =>
    url === '/enterprises/acme/audit-log?per_page=1&include=web' && headers.authorization === `Bearer ${TOKEN}`
      ? { body: [entry] }
      : { status: 401, body: { message: 'Bad credentials' } },
  summary: 'Read 1 audit log entry',
});

let server: Vendor | undefined;
afterEach(() => server?.close());

async function answered(reply: Reply, settings = config.settings): Promise<TestOutcome> {
  server = await startVendor(() => reply);
  return runTester(createGithubAuditLogTester({ baseUrl: server.origin }), { ...config, settings });
}

const onToken = { issues: [{ path: '/secrets/personal_access_token' }] };

test.each([
  [
    { status: 401, body: { message: 'Bad credentials' } },
    { reason: 'invalid_credentials', ...onToken },
  ],
  [
    { status: 403, body: { message: 'Resource not accessible' } },
    { reason: 'forbidden', ...onToken },
  ],
  [{ status: 403, headers: { 'x-ratelimit-remaining': '0' } }, { reason: 'rate_limited' }],
  [{ status: 403, headers: { 'retry-after': '60' } }, { reason: 'rate_limited' }],
  [
    { status: 404, body: { message: 'Not Found' } },
    { reason: 'not_found', issues: [{ path: '/settings/enterprise' }] },
  ],
  [{ body: { message: 'a page' } }, { reason: 'unexpected_answer' }],
  [{ body: [] }, { ok: true, summary: 'Read 0 audit log entries' }],
] satisfies [Reply, object][])('%j is %j', async (reply, outcome) => {
  expect(await answered(reply)).toMatchObject(outcome);
});

test('asks as GitHub documents, and keeps the enterprise in its place', async () => {
  await answered({ body: [entry] }, { enterprise: '../users/octocat', include: 'all' });
  expect(server?.requests[0]).toMatchObject({
    method: 'GET',
    url: '/enterprises/..%2Fusers%2Foctocat/audit-log?per_page=1&include=all',
    headers: {
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      'user-agent': 'connector-frame',
    },
  });
});

test('what is absent is asked for', async () => {
  const tester = createGithubAuditLogTester();
  expect(await runTester(tester, { ...config, secrets: {} })).toMatchObject({
    issues: [{ path: '/secrets/personal_access_token' }],
  });
  expect(await runTester(tester, { ...config, settings: {} })).toMatchObject({
    issues: [{ path: '/settings/enterprise' }],
  });
});
