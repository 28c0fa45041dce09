import { basicOf, bad, slice, withTokens, wrongQuery, type PollVendor } from './poll-vendor.js';

const [ID, SECRET] = ['canary-client-id', 'canary-client-secret'];
const errorReply = (code: number, message: string) => ({
  status: code,
  body: { status: { error: true, code, type: message, message } },
});

/** https://developers.onelogin.com/api-docs/1/events/get-events */
export const onelogin: PollVendor = {
  type: 'onelogin-events',
  origins: ['https://acme.onelogin.com'],
  config: { settings: { subdomain: 'acme' }, secrets: { client_id: ID, client_secret: SECRET } },
  wrong: { client_secret: 'canary-wrong-secret' },
  numberOf: (record) => (record as { id: number }).id,
  throttle: () => ({
    reply: {
      ...errorReply(429, 'rate limit'),
      headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '832' },
    },
    afterMs: 832_000,
  }),
  open: withTokens((request, world, tokens) => {
    const { path, method, headers, body, query } = request;
    if (path === '/auth/oauth2/v2/token') {
      const known = headers['authorization'] === basicOf(ID, SECRET) && headers['content-type'] === 'application/json';
      if (method !== 'POST' || !known || body !== '{"grant_type":"client_credentials"}')
        return errorReply(401, 'Unauthorized');
      return {
        body: {
          access_token: tokens.issue(),
          expires_in: 36_000,
          token_type: 'bearer',
          refresh_token: 'canary-refresh',
        },
      };
    }
    if (!tokens.has(String(headers['authorization']).replace(/^bearer:/, ''))) return errorReply(401, 'Unauthorized');
    if (path !== '/api/1/events') return bad(404, path);
    const wrong = wrongQuery(
      request,
      [],
      ['since', 'until', 'limit', 'after_cursor', 'before_cursor', 'sort', 'fields'],
    );
    const limit = Number(query.get('limit') ?? 50);
    if (wrong !== undefined || !(limit >= 1 && limit <= 50)) return errorReply(400, 'bad request');
    const from = Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z');
    const to = Date.parse(query.get('until') ?? '2100-01-01T00:00:00Z');
    const page = slice(world, { from, to }, limit, query.get('after_cursor'));
    if (!page) return errorReply(400, 'bad request');
    return {
      headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '4988', 'x-ratelimit-reset': '832' },
      body: {
        status: { error: false, code: 200, type: 'success', message: 'Success' },
        pagination: { before_cursor: null, after_cursor: page.next ?? null, previous_link: null, next_link: null },
        data: page.events.map(({ n, at }) => ({ id: n, created_at: new Date(at).toISOString(), event_type_id: 5 })),
      },
    };
  }),
};
