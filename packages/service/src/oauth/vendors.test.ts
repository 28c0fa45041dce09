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
  authorization: string | null;
}

const TENANT = '8eaef023-2b34-4da1-9baa-8bc8c9d6a490';
const SETTINGS = {
  sub_domain: 'northwind',
  tenant_id: TENANT,
  domain_url: 'https://northwind.my.salesforce.com/',
  base_url: 'https://northwind--uat.sandbox.my.salesforce.com',
};

/** A vendor that responds to every token request with `body`. */
function vendorOf(typeId: string, body: object, status = 200, settings: object = {}) {
  const sent: Sent[] = [];
  const oauth = catalog.get('input', typeId)?.oauth;
  if (!oauth) throw new Error(`${typeId} has no oauth`);
  const server = createAuthorizationServer({
    definition: oauth,
    client: { client_id: 'the-client', client_secret: 'its-secret', redirect: 'vendor' },
    settings: { ...SETTINGS, ...settings },
    redirectUri: REDIRECT_URI,
    egress: {
      ...createEgress({ allow: [] }),
      fetch: (url, init) => {
        const authorization = new Headers(init?.headers).get('authorization');
        sent.push({ url: String(url), body: String(init?.body), authorization });
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

/** The ID token of the page's example has the form of "ID token claims reference". */
const idTokenOf = (claims: object): string =>
  `eyJhbGciOiJSUzI1NiJ9.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2lnbmF0dXJl`;

test("Microsoft: signs in at the customer's tenant and asks for the same scopes when it refreshes", async () => {
  // learn.microsoft.com, "OAuth 2.0 authorization code flow": successful responses and refresh tokens.
  const vendor = vendorOf('microsoft-defender-xdr-alerts', {
    access_token: 'eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9',
    token_type: 'Bearer',
    expires_in: 3_599,
    scope: 'https://graph.microsoft.com/SecurityAlert.Read.All',
    refresh_token: 'AwABAAAAvPM1KaPlrEqdFSBzjqfTGAMxZGUTdM0t4B4',
    id_token: idTokenOf({ tid: TENANT, preferred_username: 'ana@northwind.example' }),
  });
  const url = new URL(await vendor.server.authorizationUrl(checks));
  expect(url.origin + url.pathname).toBe(`https://login.microsoftonline.com/${TENANT}/oauth2/v2.0/authorize`);
  const { grant, account } = await redeem(vendor);
  expect([grant.expiresAt, account]).toEqual([3_599_000, 'ana@northwind.example']);
  await vendor.server.refresh('AwABAAAA');
  const scope = 'openid profile offline_access https://graph.microsoft.com/SecurityAlert.Read.All';
  const token = `https://login.microsoftonline.com/${TENANT}/oauth2/v2.0/token`;
  for (const sent of vendor.sent) {
    expect(sent.url).toBe(token);
    expect(new URLSearchParams(sent.body).get('scope')).toBe(scope);
  }
  expect(new URLSearchParams(vendor.sent[1]?.body).get('grant_type')).toBe('refresh_token');
});

test.each(['invalid_grant', 'interaction_required', 'consent_required'])(
  'Microsoft: %s needs the customer',
  async (error) => {
    // "Error codes for token endpoint errors" of the same page; MSAL's `InteractionRequiredAuthErrorCodes`.
    const { server } = vendorOf(
      'microsoft-sentinel-incidents',
      { error, error_description: 'AADSTS50076: Due to a configuration change made by your administrator.' },
      400,
    );
    await expect(server.refresh('r')).rejects.toMatchObject({ code: 'ended' });
  },
);

// Delegated permissions: microsoft-graph-docs-contrib, `includes/permissions`; learn.microsoft.com, "Access the Azure
// Monitor Log Analytics API" and the REST API of Azure Resource Manager ("azure_auth": user_impersonation).
test.each([
  ['microsoft-defender-xdr-alerts', 'https://graph.microsoft.com/SecurityAlert.Read.All'],
  ['microsoft-intune-audit-logs', 'https://graph.microsoft.com/DeviceManagementApps.Read.All'],
  ['microsoft-365-message-trace', 'https://graph.microsoft.com/ExchangeMessageTrace.Read.All'],
  ['microsoft-secure-score', 'https://graph.microsoft.com/SecurityEvents.Read.All'],
  [
    'microsoft-graph-audit-logs',
    'https://graph.microsoft.com/AuditLog.Read.All https://graph.microsoft.com/Directory.Read.All',
  ],
  ['microsoft-azure-activity-logs', 'https://management.azure.com/user_impersonation'],
  ['microsoft-defender-for-cloud-alerts', 'https://management.azure.com/user_impersonation'],
  ['microsoft-sentinel-incidents', 'https://management.azure.com/user_impersonation'],
  ['microsoft-entra-id', 'https://api.loganalytics.io/Data.Read'],
  ['microsoft-log-analytics-query', 'https://api.loganalytics.io/Data.Read'],
])('Microsoft: %s asks for %s and for a refresh token', async (typeId, scope) => {
  expect(await scopesOf(typeId)).toBe(`openid profile offline_access ${scope}`);
});

test('Microsoft: no account can be connected for the Management Activity API, which takes tokens of apps', () => {
  // learn.microsoft.com, "Get started with Office 365 Management APIs": "app-only tokens".
  const types = catalog
    .list('input')
    .filter(({ poll }) => JSON.stringify(poll?.base_url)?.includes('manage.office.com'));
  expect(types.map(({ type_id, oauth }) => [type_id, oauth])).toContainEqual(['microsoft-365-dlp-events', undefined]);
  expect(types.filter(({ oauth }) => oauth)).toEqual([]);
});

test('Atlassian: token requests are JSON, and a refresh token that was rotated needs the customer', async () => {
  // developer.atlassian.com, "OAuth 2.0 (3LO) apps": exchange of the code, "Rotating refresh tokens".
  const vendor = vendorOf('atlassian-jira-audit-logs', {
    access_token: 'a1',
    refresh_token: 'r1',
    expires_in: 3_600,
    scope: 'read:audit-log:jira',
  });
  const { searchParams } = new URL(await vendor.server.authorizationUrl(checks));
  expect(Object.fromEntries(searchParams)).toMatchObject({
    audience: 'api.atlassian.com',
    prompt: 'consent',
    scope: 'read:audit-log:jira read:user:jira read:me offline_access',
  });
  expect(searchParams.has('code_challenge')).toBe(false);
  expect((await redeem(vendor)).grant).toMatchObject({ accessToken: 'a1', refreshToken: 'r1' });
  expect(JSON.parse(vendor.sent[0]?.body ?? '')).toEqual({
    grant_type: 'authorization_code',
    client_id: 'the-client',
    client_secret: 'its-secret',
    code: 'the-code',
    redirect_uri: REDIRECT_URI,
  });
  const used = { error: 'unauthorized_client', error_description: 'refresh_token is invalid' };
  await expect(vendorOf('atlassian-jira-users', used, 403).server.refresh('r0')).rejects.toMatchObject({
    code: 'ended',
  });
});

test('Zoom: the client signs in with its header, and an invalid token needs the customer', async () => {
  // developers.zoom.us, "OAuth": request access token. The error is what raycast/extensions#10896 received.
  const vendor = vendorOf('zoom-operation-logs', { access_token: 'z1', refresh_token: 'z2', expires_in: 3_599 });
  await redeem(vendor);
  expect(vendor.sent[0]?.authorization).toBe(`Basic ${Buffer.from('the-client:its-secret').toString('base64')}`);
  const { server } = vendorOf('zoom-operation-logs', { reason: 'Invalid Token!', error: 'invalid_grant' }, 400);
  await expect(server.refresh('z2')).rejects.toMatchObject({ code: 'ended' });
});

test('Salesforce: signs in at the My Domain, whose tokens say no lifetime', async () => {
  // help.salesforce.com, "OAuth 2.0 Web Server Flow for Web App Integration": the token response.
  const vendor = vendorOf('salesforce-users', {
    access_token: '00DB0000000TfcR!AQQAQFhoK8vTMg',
    refresh_token: '5Aep8614iLM.Dq661ePDmPEgaAW9Oh_L3JKkDpB4xReb54_',
    signature: 'CMJ4l+CCaPQiKjoOEwEig9H4wqhpuLSk4J2urAe+fVg=',
    instance_url: 'https://northwind.my.salesforce.com',
    token_type: 'Bearer',
    issued_at: '1558553873237',
  });
  const { grant } = await redeem(vendor);
  expect(grant).not.toHaveProperty('expiresAt');
  expect(vendor.sent[0]?.url).toBe('https://northwind.my.salesforce.com/services/oauth2/token');
  const files = new URL(await vendorOf('salesforce-event-log-files', {}).server.authorizationUrl(checks));
  expect(files.host).toBe('northwind--uat.sandbox.my.salesforce.com');
  expect(files.searchParams.get('scope')).toBe('api refresh_token');
  expect(() => vendorOf('salesforce-users', {}, 200, { domain_url: 'https://evil.example' })).toThrow('refused');
});

test('Figma: refreshes at a separate address, and keeps the refresh token, which is not sent again', async () => {
  // developers.figma.com, "Authentication": refresh OAuth tokens.
  const { server, sent } = vendorOf('figma-activity-logs', {
    access_token: 'figu_2',
    token_type: 'bearer',
    expires_in: 7_776_000,
  });
  expect(await server.refresh('figur_1')).toMatchObject({ accessToken: 'figu_2', refreshToken: 'figur_1' });
  expect(sent.map(({ url }) => url)).toEqual(['https://api.figma.com/v1/oauth/refresh']);
});

test('Intercom: the token is under another name and does not expire', async () => {
  // developers.intercom.com, "Setting up OAuth": trade your authorization code for an access token.
  const vendor = vendorOf('intercom-activity', { token_type: 'Bearer', token: 'dG9rOm' });
  expect((await redeem(vendor)).grant).toEqual({ accessToken: 'dG9rOm' });
});

test.each([
  // dropbox.tech, "Using OAuth 2.0 with offline access"; team_log/get_events: scope events.read.
  ['dropbox-team-events', { token_access_type: 'offline', scope: 'events.read', code_challenge_method: 'S256' }],
  // developer.box.com, "Scopes": the enterprise event stream; managed users.
  ['box-events', { scope: 'manage_enterprise_properties' }],
  ['box-users', { scope: 'manage_managed_users' }],
  // developers.figma.com, "Activity Logs".
  ['figma-activity-logs', { scope: 'org:activity_log_read' }],
  // developers.hubspot.com, "Account activity API": scope requirements.
  ['hubspot-audit-logs', { scope: 'oauth account-info.security.read' }],
  // typeform.com/developers, "Scopes": "offline" for a refresh token.
  ['typeform-responses', { scope: 'offline forms:read responses:read' }],
  // app.launchdarkly.com/.well-known/oauth-authorization-server: `scopes_supported`, S256.
  ['launchdarkly-audit-log', { scope: 'reader', code_challenge_method: 'S256' }],
  // developers.smartsheet.com, OpenAPI document: scopes of the authorization code flow.
  ['smartsheet-events', { scope: 'READ_SHEETS' }],
  // developer.atlassian.com, "OAuth scopes required" of each operation.
  ['atlassian-confluence-audit-logs', { scope: 'read:audit-log:confluence read:me offline_access' }],
  ['atlassian-jira-roles', { scope: 'manage:jira-configuration read:me offline_access' }],
  ['atlassian-jira-users', { scope: 'read:jira-user read:me offline_access' }],
  // cloud.google.com/logging/docs, `entries.list`: authorization scopes.
  ['google-cloud-logs', { access_type: 'offline', scope: 'openid email https://www.googleapis.com/auth/logging.read' }],
])('%s sends %j', async (typeId, parameters) => {
  const { searchParams } = new URL(await vendorOf(typeId, {}).server.authorizationUrl(checks));
  expect(Object.fromEntries(searchParams)).toMatchObject(parameters);
});
