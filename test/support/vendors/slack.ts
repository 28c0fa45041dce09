import { bad, slice, wrongQuery, type PollVendor } from './poll-vendor.js';

const TOKEN = 'xoxp-canary-slack-token-0000';
const errorReply = (status: number, error: string) => ({ status, body: { ok: false, error } });

/** https://docs.slack.dev/reference/audit-logs-api/methods-actions-reference */
export const slack: PollVendor = {
  type: 'slack-enterprise-audit-logs',
  origins: ['https://api.slack.com'],
  config: { settings: {}, secrets: { user_oauth_token: TOKEN } },
  wrong: { user_oauth_token: 'xoxp-canary-wrong-token' },
  numberOf: (record) => Number((record as { id: string }).id.slice(3)),
  throttle: () => ({ reply: { ...errorReply(429, 'ratelimited'), headers: { 'retry-after': '30' } }, afterMs: 30_000 }),
  open: (world) => ({
    respond(request) {
      const { headers, query, path } = request;
      if (headers['authorization'] !== `Bearer ${TOKEN}`) return errorReply(401, 'invalid_auth');
      if (path !== '/audit/v1/logs') return bad(404, path);
      const wrong = wrongQuery(request, [], ['latest', 'oldest', 'limit', 'action', 'actor', 'entity', 'cursor']);
      const limit = Number(query.get('limit') ?? 9_999);
      const [oldest, latest] = [query.get('oldest') ?? '0', query.get('latest') ?? '9999999999'];
      if (wrong !== undefined || !(limit >= 1 && limit <= 9_999) || !/^\d+$/.test(oldest) || !/^\d+$/.test(latest))
        return errorReply(400, 'invalid_arguments');
      const range = { from: Number(oldest) * 1_000, to: Number(latest) * 1_000, descending: true };
      const page = slice(world, range, limit, query.get('cursor'));
      if (!page) return errorReply(400, 'invalid_cursor');
      return {
        body: {
          entries: page.events.map(({ n, at }) => ({
            id: `ev-${n}`,
            date_create: Math.floor(at / 1_000),
            action: 'user_login',
          })),
          response_metadata: { next_cursor: page.next ?? '' },
        },
      };
    },
  }),
};
