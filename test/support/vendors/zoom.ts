import { basicOf, bad, slice, withTokens, wrongQuery, type PollVendor } from './poll-vendor.js';

const [ID, SECRET] = ['canary-client-id', 'canary-client-secret'];
const DAY = 86_400_000;

/**
 * https://developers.zoom.us/docs/api/rest/reference/zoom-api/methods/#operation/reportSignInSignOutActivities
 */
export const zoom: PollVendor = {
  type: 'zoom-activity-logs',
  origins: ['https://api.zoom.us', 'https://zoom.us'],
  config: { settings: { account_id: 'A1b2C3d4E5f6G7h8I9j0Kl' }, secrets: { client_id: ID, client_secret: SECRET } },
  wrong: { client_secret: 'canary-wrong-secret' },
  numberOf: (record) => Number((record as { email: string }).email.split('@')[0]),
  throttle: (now) => ({
    reply: {
      status: 429,
      headers: {
        'x-ratelimit-category': 'Heavy',
        'x-ratelimit-type': 'Daily-limit',
        'x-ratelimit-limit': '30000',
        'x-ratelimit-remaining': '0',
        // Zoom sends a timestamp here instead of seconds or an HTTP date.
        'retry-after': `${new Date(now + 45_000).toISOString().slice(0, 19)}Z`,
        date: new Date(now).toUTCString(),
      },
      body: { code: 429, message: 'You have exceeded the daily rate limit.' },
    },
    afterMs: 45_000,
  }),
  open: withTokens((request, world, tokens) => {
    const { origin, path, method, headers, body, query } = request;
    if (origin === 'https://zoom.us') {
      const form = new URLSearchParams(body);
      const requested =
        form.get('grant_type') === 'account_credentials' && form.get('account_id') === 'A1b2C3d4E5f6G7h8I9j0Kl';
      if (path !== '/oauth/token' || method !== 'POST' || !requested) return bad(400, 'unsupported_grant_type');
      if (headers['authorization'] !== basicOf(ID, SECRET)) return bad(401, 'invalid_client');
      return {
        body: {
          access_token: tokens.issue(),
          token_type: 'bearer',
          expires_in: 3599,
          scope: 'report:read:user_activities:admin',
        },
      };
    }
    if (!tokens.has(String(headers['authorization']).replace(/^Bearer /, '')))
      return { status: 401, body: { code: 124, message: 'Invalid access token.' } };
    if (path !== '/v2/report/activities') return bad(404, path);
    const wrong = wrongQuery(request, [], ['from', 'to', 'page_size', 'next_page_token']);
    const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
    const limit = Number(query.get('page_size') ?? 30);
    const days = (Date.parse(to) - Date.parse(from)) / DAY;
    if (
      wrong !== undefined ||
      !/^\d{4}-\d\d-\d\d$/.test(from) ||
      !/^\d{4}-\d\d-\d\d$/.test(to) ||
      !(days >= 0 && days <= 30) ||
      !(limit >= 1 && limit <= 300)
    )
      return { status: 400, body: { code: 300, message: wrong ?? 'range' } };
    const range = { from: Date.parse(from), to: Date.parse(to) + DAY - 1, descending: true };
    const page = slice(world, range, limit, query.get('next_page_token'));
    if (!page) return { status: 400, body: { code: 300, message: 'The next page token is invalid or expired.' } };
    return {
      body: {
        from,
        to,
        page_size: limit,
        next_page_token: page.next ?? '',
        activity_logs: page.events.map(({ n, at }) => ({
          email: `${n}@acme.com`,
          time: `${new Date(at).toISOString().slice(0, 19)}Z`,
          type: 'Sign in',
          ip_address: '192.0.2.1',
          client_type: 'Browser',
          version: '5.17',
        })),
      },
    };
  }),
};
