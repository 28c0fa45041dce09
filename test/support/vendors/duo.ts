import { createHmac } from 'node:crypto';
import { bad, slice, wrongQuery, type PollVendor, type VendorRequest } from './poll-vendor.js';

const HOST = 'api-1a2b3c4d.duosecurity.com';
const [KEY, SECRET] = ['DICANARYINTEGRATION0', 'canary-secret-key-0000000000000000000000'];
const errorReply = (status: number, code: number, message: string) => ({
  status,
  body: { stat: 'FAIL', code, message },
});

/** https://duo.com/docs/adminapi#authentication: five lines, HMAC-SHA1 in hex as the password. */
function isSigned({ headers, method, path, query }: VendorRequest, now: number): boolean {
  const date = String(headers['date']);
  if (!/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}$/.test(date) || Math.abs(Date.parse(date) - now) > 300_000)
    return false;
  const encode = (text: string): string =>
    Array.from(Buffer.from(text), (byte) =>
      /[A-Za-z0-9_.~-]/.test(String.fromCharCode(byte))
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    ).join('');
  const sorted = [...query].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort();
  const text = [date, method, HOST, path, sorted.join('&')].join('\n');
  const password = createHmac('sha1', SECRET).update(text).digest('hex');
  return headers['authorization'] === `Basic ${Buffer.from(`${KEY}:${password}`).toString('base64')}`;
}

/** https://duo.com/docs/adminapi#authentication-logs */
export const duo: PollVendor = {
  type: 'duo-security-auth-logs',
  origins: [`https://${HOST}`],
  config: { settings: { host: HOST }, secrets: { integration_key: KEY, secret_key: SECRET } },
  wrong: { secret_key: 'canary-wrong-key-00000000000000000000000' },
  anyClock: false,
  numberOf: (record) => Number((record as { txid: string }).txid.slice(3)),
  throttle: () => ({ reply: errorReply(429, 42_901, 'Too Many Requests'), afterMs: 60_000 }),
  // New authentications appear in the log after two minutes.
  delayMs: 120_000,
  open: (world) => ({
    respond(request) {
      const { query, path } = request;
      if (!isSigned(request, world.now())) return errorReply(401, 40_103, 'Invalid signature in request credentials');
      if (path !== '/admin/v2/logs/authentication') return bad(404, path);
      const wrong = wrongQuery(request, ['mintime', 'maxtime'], ['limit', 'next_offset', 'sort']);
      const [from, to] = [Number(query.get('mintime')), Number(query.get('maxtime'))];
      const limit = Number(query.get('limit') ?? 100);
      if (wrong !== undefined || !(from < to) || String(from).length !== 13 || !(limit >= 1 && limit <= 1_000))
        return errorReply(400, 40_002, wrong ?? 'Invalid request parameters');
      const offset = query.get('next_offset');
      const token = offset === null ? null : (/^\d{13},(.+)$/.exec(offset)?.[1] ?? 'none');
      const page = slice(world, { from, to, descending: query.get('sort') !== 'ts:asc' }, limit, token);
      if (!page) return errorReply(400, 40_002, 'next_offset');
      const last = page.events.at(-1);
      return {
        body: {
          stat: 'OK',
          response: {
            authlogs: page.events.map(({ n, at }) => ({
              txid: `tx-${n}`,
              timestamp: Math.floor(at / 1_000),
              result: 'success',
            })),
            metadata: {
              total_objects: world.events.length,
              next_offset: page.next === undefined ? null : [String(last?.at), page.next],
            },
          },
        },
      };
    },
  }),
};
