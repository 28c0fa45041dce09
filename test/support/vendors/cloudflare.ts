import { bad, slice, wrongQuery, type PollVendor } from './poll-vendor.js';

const TOKEN = 'canary-cloudflare-token-0000000000000000000';
const ACCOUNT = '023e105f4ecef8ad9ca31a8372d0c353';
const errorReply = (status: number, code: number, message: string) => ({
  status,
  body: { success: false, errors: [{ code, message }], messages: [], result: null },
});

/**
 * https://developers.cloudflare.com/api/resources/accounts/subresources/logs/subresources/audit/methods/list/
 */
export const cloudflare: PollVendor = {
  type: 'cloudflare-audit-logs',
  origins: ['https://api.cloudflare.com'],
  config: { settings: { account_id: ACCOUNT }, secrets: { api_token: TOKEN } },
  wrong: { api_token: 'canary-wrong-token-000000000000000000000000' },
  numberOf: (record) => Number((record as { id: string }).id.slice(3)),
  throttle: () => ({
    reply: { ...errorReply(429, 10_100, 'Rate limited'), headers: { 'retry-after': '120' } },
    afterMs: 120_000,
  }),
  open: (world) => ({
    respond(request) {
      const { headers, query, path } = request;
      if (headers['authorization'] !== `Bearer ${TOKEN}`) return errorReply(401, 10_000, 'Authentication error');
      if (path !== `/client/v4/accounts/${ACCOUNT}/logs/audit`) return bad(404, path);
      const wrong = wrongQuery(request, ['since', 'before'], ['cursor', 'direction', 'limit']);
      if (wrong !== undefined) return errorReply(400, 1, wrong);
      const limit = Number(query.get('limit') ?? 100);
      const [from, before] = [Date.parse(query.get('since') ?? ''), Date.parse(query.get('before') ?? '')];
      if (!(limit >= 1 && limit <= 1_000) || !(from < before)) return errorReply(400, 2, 'range');
      const descending = query.get('direction') !== 'asc';
      const page = slice(world, { from, to: before - 1, descending }, limit, query.get('cursor'));
      if (!page) return errorReply(400, 3, 'cursor');
      return {
        body: {
          success: true,
          errors: [],
          result_info: { count: String(page.events.length), cursor: page.next ?? '' },
          result: page.events.map(({ n, at }) => ({
            id: `cf-${n}`,
            action: { type: 'create', time: new Date(at).toISOString() },
          })),
        },
      };
    },
  }),
};
