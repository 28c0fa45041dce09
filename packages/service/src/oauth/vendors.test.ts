/**
 * What the vendors' documentation says about their authorization servers, against the shipped catalog.
 * Responses have the form of the vendor's own example, which each test names.
 */
import { expect, test } from 'vitest';
import { loadCatalog } from '@connector-frame/catalog';
import { createEgress } from '@connector-frame/engine/egress';
import { createAuthorizationServer, newChecks } from './authorization-server.js';

const catalog = loadCatalog();
const checks = newChecks();
const REDIRECT_URI = 'https://service.example/v1/oauth/vendor/callback';

interface Sent {
  url: string;
  body: string;
}

/** A vendor that responds to every token request with `body`. */
function vendorOf(typeId: string, body: object, status = 200) {
  const sent: Sent[] = [];
  const oauth = catalog.get('input', typeId)?.oauth;
  if (!oauth) throw new Error(`${typeId} has no oauth`);
  const server = createAuthorizationServer({
    definition: oauth,
    client: { client_id: 'the-client', client_secret: 'its-secret', redirect: 'vendor' },
    settings: { sub_domain: 'northwind' },
    redirectUri: REDIRECT_URI,
    egress: {
      ...createEgress({ allow: [] }),
      fetch: (url, init) => {
        sent.push({ url: String(url), body: String(init?.body) });
        return Promise.resolve(Response.json(body, { status }));
      },
    },
    now: () => 0,
  });
  return { server, sent };
}

const redeem = ({ server }: ReturnType<typeof vendorOf>) =>
  server.redeem(`?code=the-code&state=${encodeURIComponent(checks.state)}`, checks);

const scopesOf = async (typeId: string, parameter = 'scope'): Promise<string | null> =>
  new URL(await vendorOf(typeId, {}).server.authorizationUrl(checks)).searchParams.get(parameter);

test('Slack: an account of an organization has its name and the token of its owner', async () => {
  // docs.slack.dev, "oauth.v2.access response" of organization-wide apps.
  const vendor = vendorOf('slack-enterprise-audit-logs', {
    ok: true,
    access_token: 'xoxb-app',
    team: null,
    enterprise: { id: 'E1', name: 'Northwind' },
    is_enterprise_install: true,
    authed_user: { id: 'W1', access_token: 'xoxp-owner' },
  });
  expect(await redeem(vendor)).toEqual({ grant: { accessToken: 'xoxp-owner' }, account: 'Northwind' });
});

test("Slack: an unknown client is the operator's problem", async () => {
  // docs.slack.dev, errors of oauth.v2.access.
  const { server } = vendorOf('slack-users', { ok: false, error: 'invalid_client_id' });
  await expect(server.refresh('xoxe-1')).rejects.toMatchObject({ code: 'client' });
});

test('PagerDuty: an account has the subdomain of its ID token', async () => {
  // PagerDuty/developer-docs, "The PagerDuty OpenID ID Token".
  const claims = Buffer.from(JSON.stringify({ sub: 'P8OGMIK', subdomain: 'pdt-sample' })).toString('base64url');
  const vendor = vendorOf('pagerduty-audit-records', {
    token_type: 'bearer',
    access_token: 'pdus+_0',
    refresh_token: 'pdus+_1',
    expires_in: 864_000,
    scope: 'openid audit_records.read',
    id_token: `eyJhbGciOiJSUzI1NiJ9.${claims}.c2lnbmF0dXJl`,
  });
  expect((await redeem(vendor)).account).toBe('pdt-sample');
});

test('Notion: token requests have no property but those of its API', async () => {
  // makenotion/notion-sdk-js, `OauthTokenBodyParameters`; its API rejects unknown properties.
  const vendor = vendorOf('notion-workspace', { access_token: 'ntn_1', workspace_name: 'Northwind' });
  await redeem(vendor);
  expect(JSON.parse(vendor.sent[0]?.body ?? '')).toEqual({
    grant_type: 'authorization_code',
    code: 'the-code',
    redirect_uri: REDIRECT_URI,
  });
});

test('HubSpot: uses the endpoint that replaces v1, which ends in February 2027', async () => {
  // The example of the changelog "New OAuth v3 API Endpoints and Standardized Error Responses".
  const { server, sent } = vendorOf(
    'hubspot-crm',
    { error: 'invalid_grant', error_description: 'refresh token is invalid', status: 'BAD_REFRESH_TOKEN' },
    400,
  );
  await expect(server.refresh('gone')).rejects.toMatchObject({ code: 'ended' });
  expect(sent.map(({ url }) => url)).toEqual(['https://api.hubapi.com/oauth/2026-03/token']);
  // HubSpot-public-api-spec-collection, `security` of the searched objects; "oauth" belongs to every app.
  expect(await scopesOf('hubspot-crm')).toBe(
    'oauth crm.objects.companies.read crm.objects.contacts.read crm.objects.deals.read tickets',
  );
});

test('Zendesk: token requests have the scopes, too', async () => {
  // Zendesk, "Create Token for Grant Type": `scope` is the scope of this token.
  const vendor = vendorOf('zendesk-audit-logs', { access_token: 'z1', refresh_token: 'z2', expires_in: 1_800 });
  await redeem(vendor);
  await vendor.server.refresh('z2');
  const bodies = vendor.sent.filter(({ url }) => url.endsWith('/oauth/tokens')).map(({ body }) => JSON.parse(body));
  const scope = 'auditlogs:read users:read';
  expect(bodies).toEqual([
    expect.objectContaining({ grant_type: 'authorization_code', scope, code_verifier: checks.verifier }),
    expect.objectContaining({ grant_type: 'refresh_token', scope }),
  ]);
});

test('Google: no account can be connected for the Alert Center, which accepts service accounts only', () => {
  // developers.google.com/workspace/admin/alertcenter/guides/auth.
  expect(catalog.get('input', 'google-workspace-alert-center')).not.toHaveProperty('oauth');
});

test("GitHub: Copilot's events are in the audit log, which has its own scope", async () => {
  // GitHub's REST API, "Get the audit log for an organization".
  expect(await scopesOf('github-copilot-logs')).toBe('read:audit_log');
});
