import { bad, slice, wrongQuery, type PollVendor } from './poll-vendor.js';

const origin = 'https://api.snyk.io';
const TOKEN = 'canary00-0000-4000-8000-snyk-api-token';
const ORGS = [
  '11111111-1111-4111-8111-111111111111',
  '22222222-2222-4222-8222-222222222222',
  '33333333-3333-4333-8333-333333333333',
];
const errorReply = (status: number, detail: string) => ({
  status,
  body: { jsonapi: { version: '1.0' }, errors: [{ status: String(status), detail }] },
});

/**
 * https://docs.snyk.io/snyk-api/reference/issues: issues by organization, after a list of the
 * organizations.
 */
export const snyk: PollVendor = {
  type: 'snyk-issues',
  origins: [origin],
  config: { settings: {}, secrets: { api_key: TOKEN } },
  wrong: { api_key: 'canary00-0000-4000-8000-wrong-token-0' },
  numberOf: (record) => Number((record as { id: string }).id.slice(6)),
  throttle: () => ({ reply: errorReply(429, 'Too many requests'), afterMs: 60_000 }),
  elsewhere: (reply, other) => ({
    ...reply,
    body: { ...(reply.body as object), links: { next: `${other}/rest/orgs?version=2024-10-15&starting_after=v1.x` } },
  }),
  open: (world) => ({
    respond(request) {
      const { headers, query, path } = request;
      if (headers['authorization'] !== `token ${TOKEN}`) return errorReply(401, 'Unauthorized');
      if (query.get('version') !== '2024-10-15') return errorReply(400, 'version');
      const limit = Number(query.get('limit') ?? 10);
      if (!(limit >= 10 && limit <= 100)) return errorReply(400, 'limit');
      if (path === '/rest/orgs') {
        if (wrongQuery(request, ['version'], ['limit', 'starting_after', 'ending_before']))
          return errorReply(400, 'query');
        // Two pages of organizations.
        const first = !query.has('starting_after');
        const data = (first ? ORGS.slice(0, 2) : ORGS.slice(2)).map((id) => ({
          id,
          type: 'org',
          attributes: { name: id },
        }));
        return {
          body: {
            jsonapi: { version: '1.0' },
            data,
            links: first ? { next: `/rest/orgs?version=2024-10-15&limit=${limit}&starting_after=v1.org2` } : {},
          },
        };
      }
      const org = ORGS.indexOf(/^\/rest\/orgs\/([0-9a-f-]{36})\/issues$/.exec(path)?.[1] ?? '');
      if (org < 0) return bad(404, path);
      if (wrongQuery(request, ['version', 'updated_after'], ['limit', 'starting_after', 'ending_before']))
        return errorReply(400, 'query');
      const events = world.events.filter(({ n }) => n % ORGS.length === org);
      const page = slice(
        { ...world, now: world.now, events, pageSize: Math.max(2, world.pageSize - 1) },
        { from: Date.parse(query.get('updated_after') ?? '') },
        limit,
        query.get('starting_after'),
      );
      if (!page) return errorReply(400, 'starting_after');
      const next = new URLSearchParams(query);
      if (page.next !== undefined) next.set('starting_after', page.next);
      return {
        body: {
          jsonapi: { version: '1.0' },
          data: page.events.map(({ n, at }) => ({
            id: `issue-${n}`,
            type: 'issue',
            attributes: { title: 'Prototype Pollution', updated_at: new Date(at).toISOString() },
          })),
          links: page.next === undefined ? {} : { next: `/rest/orgs/${ORGS[org]}/issues?${next}` },
        },
      };
    },
  }),
};
