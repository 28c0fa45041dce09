import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, passed } from '../_shared/connection-test/outcome.js';
import type { Tester } from '@connector-frame/engine/connector-api';
import { json, text } from '../_shared/read.js';

const github: Subject = { product: 'GitHub', credential: '/secrets/personal_access_token' };

/**
 * Creates a tester that reads one entry of an enterprise's audit log.
 * https://docs.github.com/en/enterprise-cloud@latest/rest/enterprise-admin/audit-log
 */
export function createGithubAuditLogTester({ baseUrl = 'https://api.github.com' } = {}): Tester {
  return createTester(github, async ({ settings, secrets }, { egress }) => {
    const token = text(secrets, 'personal_access_token');
    const enterprise = text(settings, 'enterprise');
    if (!token) return missing('/secrets/personal_access_token', 'Enter a personal access token.');
    if (!enterprise) return missing('/settings/enterprise', 'Enter the name of your enterprise.');
    const query = new URLSearchParams({ per_page: '1', include: text(settings, 'include') ?? 'all' });
    const response = await egress.fetch(`${baseUrl}/enterprises/${encodeURIComponent(enterprise)}/audit-log?${query}`, {
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'x-github-api-version': '2022-11-28',
      },
    });
    switch (response.status) {
      case 200: {
        const entries = await json(response);
        if (!Array.isArray(entries)) return unexpected(github);
        return passed(entries.length === 1 ? 'Read 1 audit log entry' : `Read ${entries.length} audit log entries`);
      }
      case 401:
        return failed('invalid_credentials', 'GitHub did not accept the personal access token.', {
          hint: 'It may have expired. Create a new one in GitHub under Settings, Developer settings.',
          at: github.credential,
        });
      case 403:
        // GitHub also uses 403 for rate limiting.
        if (response.headers.get('x-ratelimit-remaining') === '0' || response.headers.has('retry-after')) {
          return statusFailure(429, github);
        }
        return failed('forbidden', 'This token may not read the audit log of the enterprise.', {
          hint: 'It needs the scope read:audit_log, and single sign-on authorized where the enterprise asks for it.',
          at: github.credential,
        });
      case 404:
        return failed('not_found', 'GitHub knows no such enterprise, or does not show it to this token.', {
          hint: 'Enter the name as in github.com/enterprises/<name>, and use a token of one of its owners.',
          at: '/settings/enterprise',
        });
      default:
        return statusFailure(response.status, github);
    }
  });
}
