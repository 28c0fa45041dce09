import { bad, wrongQuery, type PollVendor } from './poll-vendor.js';

const origin = 'https://acme.okta.com';
const TOKEN = '00canary-okta-token-000';

/** https://developer.okta.com/docs/reference/system-log-query/ (polling requests) */
export const okta: PollVendor = {
  type: 'okta-systemlog',
  origins: [origin],
  config: { settings: { org_url: origin }, secrets: { api_key: TOKEN } },
  wrong: { api_key: '00canary-wrong-token-00' },
  numberOf: (record) => Number((record as { uuid: string }).uuid.split('-').at(-1)),
  throttle: (now) => ({
    reply: {
      status: 429,
      headers: {
        'x-rate-limit-limit': '120',
        'x-rate-limit-remaining': '0',
        'x-rate-limit-reset': String(Math.floor(now / 1000) + 40),
        date: new Date(now).toUTCString(),
      },
      body: { errorCode: 'E0000047', errorSummary: 'API call exceeded rate limit due to too many requests.' },
    },
    afterMs: 40_000,
  }),
  elsewhere: (reply, other) => ({
    ...reply,
    headers: { ...reply.headers, link: `<${other}/api/v1/logs?after=1>; rel="next"` },
  }),
  open: (world) => ({
    respond(request) {
      if (request.headers['authorization'] !== `SSWS ${TOKEN}`)
        return { status: 401, body: { errorCode: 'E0000011', errorSummary: 'Invalid token provided' } };
      if (request.path !== '/api/v1/logs') return bad(404, 'E0000007');
      const wrong = wrongQuery(request, [], ['since', 'until', 'after', 'filter', 'q', 'limit', 'sortOrder']);
      if (wrong !== undefined) return bad(400, wrong);
      const { query } = request;
      const limit = Number(query.get('limit') ?? 100);
      if (!(limit >= 0 && limit <= 1_000)) return bad(400, 'limit');
      const since = Date.parse(query.get('since') ?? new Date(world.now() - 7 * 86_400_000).toISOString());
      const after = query.get('after');
      const from = after === null ? world.events.findIndex(({ written }) => written >= since) : Number(after);
      const start = from < 0 ? world.events.length : from;
      const events = world.events.slice(start, start + Math.min(limit, world.pageSize));
      const next = new URL(`${origin}/api/v1/logs?${query}`);
      next.searchParams.set('after', String(start + events.length));
      const links = [`<${origin}/api/v1/logs?${query}>; rel="self"`];
      // A polling request has no end and ascending order. Its response always has a next link.
      if (query.get('sortOrder') === 'ASCENDING' && !query.has('until')) links.push(`<${next.href}>; rel="next"`);
      return {
        headers: {
          link: links.join(', '),
          'x-rate-limit-limit': '120',
          'x-rate-limit-remaining': '100',
          'x-rate-limit-reset': '1767225600',
        },
        body: events.map(({ n, at }) => ({
          uuid: `f790999f-fe87-467a-9880-${n}`,
          published: new Date(at).toISOString(),
          eventType: 'user.session.start',
        })),
      };
    },
  }),
};
