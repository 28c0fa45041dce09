/** Atlassian's sites, against the response of its page "OAuth 2.0 (3LO) apps" (`accessible-resources`). */
import { expect, test } from 'vitest';
import { loadCatalog } from '@connector-frame/catalog';
import type { Egress, GrantedTokens } from '@connector-frame/engine/connector-api';
import { PollClient } from './client.js';

const type = loadCatalog().get('input', 'atlassian-jira-audit-logs');

const SITES = [
  { id: '11223344-a1b2-3b33-c444-def123456789', name: 'Other', url: 'https://other.atlassian.net', scopes: [] },
  { id: '1324a887-45db-1bf4-1e99-ef0ff456d421', name: 'Acme', url: 'https://acme.atlassian.net', scopes: [] },
];

/** An account whose first token was revoked. */
function clientOf(domain: string, sites: unknown = SITES) {
  if (!type?.poll) throw new Error('no such type');
  const sent: string[] = [];
  const egress = {
    fetch(url: URL, init: RequestInit) {
      const authorization = new Headers(init.headers).get('authorization');
      sent.push(`${url.href.split('?')[0] ?? ''} ${authorization ?? ''}`);
      if (authorization !== 'Bearer fresh') return Promise.resolve(Response.json({}, { status: 401 }));
      return Promise.resolve(Response.json(url.pathname.endsWith('accessible-resources') ? sites : { records: [] }));
    },
  };
  const tokens: GrantedTokens = {
    has: (field) => field === 'account',
    get: (_field, rejected) => Promise.resolve(rejected === 'revoked' ? 'fresh' : 'revoked'),
  };
  const client = new PollClient({
    type,
    poll: type.poll,
    config: { settings: { domain, sign_in: 'account' }, secrets: { account: 'revoked' } },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client sends all its requests with `fetch`
    egress: egress as unknown as Egress,
    clock: { now: () => 1_700_000_000_000, sleep: () => Promise.resolve() },
    tokens,
  });
  return { client, sent };
}

const { signal } = new AbortController();

test('a token goes to the gateway of the vendor, for the site that the settings name', async () => {
  const { client, sent } = clientOf('acme.atlassian.net');
  await client.check(signal);
  await client.check(signal);
  const list = 'https://api.atlassian.com/oauth/token/accessible-resources';
  const records =
    'https://api.atlassian.com/ex/jira/1324a887-45db-1bf4-1e99-ef0ff456d421/rest/api/3/auditing/record Bearer fresh';
  expect(sent).toEqual([`${list} Bearer revoked`, `${list} Bearer fresh`, records, records]);
});

test.each([
  [
    'a site that the account has no access to',
    'evil.example',
    SITES,
    'The connected account has no access to this site.',
  ],
  ['a list that is none', 'acme.atlassian.net', {}, 'Unexpected response'],
])('no request is sent with %s', async (_what, domain, sites, message) => {
  const { client, sent } = clientOf(domain, sites);
  await expect(client.check(signal)).rejects.toThrow(message);
  expect(sent.every((one) => one.startsWith('https://api.atlassian.com/oauth/token/accessible-resources '))).toBe(true);
});
