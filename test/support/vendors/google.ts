import { generateKeyPairSync, verify } from 'node:crypto';
import { bad, slice, withTokens, wrongQuery, type PollVendor } from './poll-vendor.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const EMAIL = 'reader@acme.iam.gserviceaccount.com';
const SCOPE = 'https://www.googleapis.com/auth/admin.reports.audit.readonly';

const keyFile = (key: typeof privateKey): string =>
  JSON.stringify({
    type: 'service_account',
    client_email: EMAIL,
    private_key_id: 'canary-key-id',
    private_key: key.export({ type: 'pkcs8', format: 'pem' }),
    // Must not be used: an attacker may have supplied the file to the user who pastes it.
    token_uri: 'https://attacker.example/token',
  });

const errorReply = (status: number, reason: string) => ({
  status,
  body: { error: { code: status, message: reason, errors: [{ domain: 'usageLimits', reason, message: reason }] } },
});

/**
 * Returns whether an assertion is signed with the account's key, for this audience, on behalf of
 * the administrator, and valid for at most an hour.
 */
function isGranted(assertion: string, now: number): boolean {
  const [head = '', body = '', signature = ''] = assertion.split('.');
  const signed = verify('sha256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'));
  if (!signed) return false;
  const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { alg: string };
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, string> & {
    iat: number;
    exp: number;
  };
  const named = claims['iss'] === EMAIL && claims['sub'] === 'admin@acme.com' && claims['scope'] === SCOPE;
  const { iat, exp } = claims;
  const timely = iat <= now / 1_000 + 300 && exp > now / 1_000 - 300 && exp - iat <= 3_600;
  return alg === 'RS256' && named && claims['aud'] === 'https://oauth2.googleapis.com/token' && timely;
}

/**
 * https://developers.google.com/workspace/admin/reports/reference/rest/v1/activities/list and
 * .../oauth2/service-account
 */
export const google: PollVendor = {
  type: 'google-workspace-admin-activity',
  origins: ['https://admin.googleapis.com', 'https://oauth2.googleapis.com'],
  config: {
    settings: { auth_type: 'service_account', email: 'admin@acme.com' },
    secrets: { credentials_json: keyFile(privateKey) },
  },
  wrong: { credentials_json: keyFile(other) },
  anyClock: false,
  numberOf: (record) => Number((record as { id: { uniqueQualifier: string } }).id.uniqueQualifier),
  // Google's rate limit response is a 403 with a reason in the body and without a retry time.
  throttle: () => ({ reply: errorReply(403, 'userRateLimitExceeded'), afterMs: 60_000 }),
  open: withTokens((request, world, tokens) => {
    const { origin, path, query, headers, method, body } = request;
    if (origin === 'https://oauth2.googleapis.com') {
      const form = new URLSearchParams(body);
      if (
        path !== '/token' ||
        method !== 'POST' ||
        form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer'
      )
        return bad(400, 'unsupported_grant_type');
      if (!isGranted(form.get('assertion') ?? '', world.now())) return bad(400, 'invalid_grant');
      return { body: { access_token: tokens.issue(), expires_in: 3599, token_type: 'Bearer' } };
    }
    if (!tokens.has(String(headers['authorization']).replace(/^Bearer /, ''))) return errorReply(401, 'authError');
    if (path !== '/admin/reports/v1/activity/users/all/applications/admin') return bad(404, path);
    const wrong = wrongQuery(request, [], ['startTime', 'endTime', 'maxResults', 'pageToken']);
    const limit = Number(query.get('maxResults') ?? 1_000);
    if (wrong !== undefined || !(limit >= 1 && limit <= 1_000)) return errorReply(400, 'invalid');
    const from = Date.parse(query.get('startTime') ?? '1970-01-01T00:00:00Z');
    const to = Date.parse(query.get('endTime') ?? new Date(world.now()).toISOString());
    if (!(from < to)) return errorReply(400, 'invalid');
    const page = slice(world, { from, to, descending: true }, limit, query.get('pageToken'));
    if (!page) return errorReply(400, 'invalid');
    const items = page.events.map(({ n, at }) => ({
      kind: 'admin#reports#activity',
      id: { time: new Date(at).toISOString(), uniqueQualifier: String(n), applicationName: 'admin' },
    }));
    // Without activities, the response has no `items`.
    return {
      body: {
        kind: 'admin#reports#activities',
        ...(items.length > 0 && { items }),
        ...(page.next !== undefined && { nextPageToken: page.next }),
      },
    };
  }),
};
