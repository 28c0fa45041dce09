import { bad, slice, wrongQuery, type PollVendor } from './poll-vendor.js';

const origin = 'https://api.github.com';
const TOKEN = 'ghp_canaryGithubToken01234567890123456789';

/** https://docs.github.com/en/enterprise-cloud@latest/rest/enterprise-admin/audit-log */
export const github: PollVendor = {
  type: 'github-audit-logs',
  origins: [origin],
  config: {
    settings: { enterprise: 'acme', include: 'all', actor: 'octocat' },
    secrets: { personal_access_token: TOKEN },
  },
  wrong: { personal_access_token: 'ghp_canaryWrongToken012345678901234567890' },
  numberOf: (record) => Number((record as Record<string, string>)['_document_id']?.slice(4)),
  // GitHub's rate limit response is a 403 whose headers distinguish it from missing permissions.
  throttle: (now) => ({
    reply: {
      status: 403,
      headers: {
        'x-ratelimit-limit': '1750',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.floor(now / 1000) + 90),
        date: new Date(now).toUTCString(),
      },
      body: { message: 'API rate limit exceeded' },
    },
    afterMs: 90_000,
  }),
  elsewhere: (reply, other) => ({
    ...reply,
    headers: { ...reply.headers, link: `<${other}/enterprises/acme/audit-log?after=1>; rel="next"` },
  }),
  open: (world) => ({
    respond(request) {
      const { headers, query, path } = request;
      if (headers['authorization'] !== `Bearer ${TOKEN}`) return { status: 401, body: { message: 'Bad credentials' } };
      if (headers['user-agent'] === undefined) return bad(403, 'user-agent');
      if (headers['accept'] !== 'application/vnd.github+json' || headers['x-github-api-version'] !== '2022-11-28')
        return bad(400, 'version');
      if (path !== '/enterprises/acme/audit-log') return bad(404, 'Not Found');
      const wrong = wrongQuery(request, [], ['phrase', 'include', 'after', 'before', 'order', 'per_page']);
      if (wrong !== undefined) return bad(422, wrong);
      const limit = Number(query.get('per_page') ?? 30);
      if (!(limit >= 1 && limit <= 100) || !['web', 'git', 'all'].includes(query.get('include') ?? 'web'))
        return bad(422, 'query');
      const phrase = query.get('phrase');
      const created = /^created:>=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) actor:octocat$/.exec(phrase ?? '')?.[1];
      if (phrase !== null && created === undefined) return bad(422, 'phrase');
      const from = created === undefined ? 0 : Date.parse(created);
      const page = slice(world, { from, descending: query.get('order') !== 'asc' }, limit, query.get('after'));
      if (!page) return bad(422, 'after');
      const next = new URL(`${origin}/enterprises/acme/audit-log?${query}`);
      next.searchParams.set('after', page.next ?? '');
      const rate = { 'x-ratelimit-limit': '1750', 'x-ratelimit-remaining': '1700', 'x-ratelimit-reset': '1767225600' };
      return {
        headers: { ...rate, ...(page.next !== undefined && { link: `<${next.href}>; rel="next"` }) },
        body: page.events.map(({ n, at }) => ({
          '@timestamp': at,
          _document_id: `doc-${n}`,
          action: 'team.create',
          actor: 'octocat',
        })),
      };
    },
  }),
};
