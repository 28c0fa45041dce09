import { z } from '@hono/zod-openapi';
import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { requireKind, requireType } from '../auth/session-scope.js';
import type { Principal } from '../auth/principal.js';
import { forbidden, invalidRequest, notFound } from '../api-error.js';
import { PAGE } from '../http/openapi-components.js';
import { organizationRoute, publicRoute, type Route } from '../http/route.js';
import { returnPage, returnPageHeaders } from '../oauth/return-page.js';
import type { RouteContext } from './context.js';
import { Settings } from './connector-bodies.js';
import { Id, Kind, TypeId } from './schemas.js';

const TypeAndOrg = z.object({
  type_id: TypeId.openapi({ description: 'ID of the connector type.' }),
  org: Id.openapi({ description: 'ID of the organization.' }),
});

const OfferBody = z
  .object({
    type_id: z.string(),
    kind: Kind,
    provider: z.string().openapi({ description: 'Name of the vendor, for the button.' }),
    secret: z.string().openapi({ description: 'JSON Pointer of the secret that holds the token.' }),
  })
  .openapi('OAuthOffer');

const StartBody = z
  .object({
    kind: Kind,
    settings: Settings.default({}),
  })
  .openapi('StartOAuth', { example: { kind: 'input', settings: { auth_type: 'oauth' } } });

const StartedBody = z
  .object({
    id: z.string().openapi({ description: 'For `{ "consent": id }` as the value of the secret.' }),
    url: z.string().openapi({ description: 'Address to open in a window of the form.' }),
    expires_at: z.iso.datetime(),
  })
  .openapi('StartedOAuth');

const StatusBody = z
  .object({
    status: z.enum(['pending', 'connected', 'cancelled', 'failed']),
    account: z.string().optional().openapi({ description: 'Name of the account, if the vendor tells it.' }),
  })
  .openapi('OAuthStatus');

const EXAMPLE_ID = 'Xq3V9kD0mJtW5aR8cY1nE7uZ2bL6sF4gH0pQxTiOvKM';

const WINDOW_ERRORS = {
  400: 'It has expired, was used before, or belongs to another browser.',
  429: 'Too many requests from this address.',
  500: 'An error of the service.',
  503: 'The database does not respond.',
} as const;

const expired = () => invalidRequest('This page has expired. Close the window and start again in the form.');

/** A person sees the errors of these routes. */
const inWindow = (route: Route): Route => ({
  ...route,
  renderError: async ({ status, options }) =>
    new Response(await returnPage(status === 400 ? 'expired' : 'failed'), {
      status,
      headers: { ...options.headers, ...returnPageHeaders },
    }),
});

/** Routes that connect an account at a vendor (OAuth 2.0) instead of a pasted secret. */
export function oauthRoutes(context: RouteContext): Route[] {
  const { consents, catalog, accessControl, publicUrl } = context;
  const tag = 'Connect accounts';
  // Only inputs have consent so far; the build of the catalog checks that.
  const mayRead = { permission: 'input:read', session: 'allow' } as const;
  const mayStart = { permission: 'input:write', session: 'allow' } as const;
  const read = (kind: ConnectorTypeData['kind'], typeId: string, principal: Principal): ConnectorTypeData => {
    requireKind(principal, kind);
    requireType(principal, typeId);
    const type = catalog.get(kind, typeId);
    if (!type?.oauth) throw notFound();
    return type;
  };
  const window = {
    tag,
    response: {
      status: 200,
      description: 'The page.',
      schema: z.string(),
      contentType: 'text/html',
      example: PAGE,
    },
    redirect: 303,
  } as const;

  return [
    ...[
      publicRoute(
        {
          ...window,
          method: 'get',
          path: '/v1/oauth/start',
          operation: 'openOAuth',
          summary: 'Send a window of the form to the vendor',
          description:
            'The form opens this address in a window. It works once, and only when the form itself opens it: a link from elsewhere gets a page that says that it has expired.',
          query: z.object({
            state: z.string().max(200).openapi({ description: 'From the response that started it.' }),
          }),
          errorStatuses: WINDOW_ERRORS,
        },
        async ({ c, query }) => {
          await accessControl.countAnonymous(c);
          // Otherwise, a link could make others connect their account for the sender.
          const isForm = c.req.header('sec-fetch-site') === 'same-origin';
          const opened = isForm ? await consents.open(query.state) : undefined;
          if (!opened) throw expired();
          const { 'Content-Type': _type, ...headers } = returnPageHeaders;
          return new Response(null, {
            status: 303,
            headers: { ...headers, Location: opened.url, 'Set-Cookie': opened.cookie },
          });
        },
      ),

      publicRoute(
        {
          ...window,
          method: 'get',
          path: '/v1/oauth/{type_id}/callback',
          operation: 'completeOAuth',
          summary: 'Where a vendor sends the browser back to',
          description:
            'Redeems the code once, in the browser that started, and shows a page that closes itself. The page contains no token. Register this address as the redirect URI of the client, with the connector type or the provider of the client.',
          params: z.object({ type_id: TypeId.openapi({ description: 'The type or the provider of the client.' }) }),
          query: z.object({
            state: z.string().optional().openapi({ description: 'From the authorization request.' }),
            code: z.string().optional().openapi({ description: 'The authorization code.' }),
            error: z.string().optional().openapi({ description: 'Why there is no code.' }),
          }),
          errorStatuses: WINDOW_ERRORS,
        },
        async ({ c, params }) => {
          await accessControl.countAnonymous(c);
          const { search } = new URL(c.req.url);
          const { outcome, cookie } = await consents.complete(params.type_id, search, c.req.header('cookie'));
          if (outcome === 'expired') throw expired();
          return new Response(await returnPage(outcome), {
            headers: { ...returnPageHeaders, ...(cookie !== undefined && { 'Set-Cookie': cookie }) },
          });
        },
      ),
    ].map(inWindow),

    organizationRoute(
      {
        method: 'get',
        path: '/v1/oauth/{type_id}/{org}',
        tag,
        operation: 'readOAuthOffer',
        summary: 'Read whether an account can be connected for a type',
        description:
          'The operator registers a client for each vendor. The form shows a button if this responds with 200.',
        access: mayRead,
        params: TypeAndOrg,
        query: z.object({ kind: Kind.default('input').openapi({ description: 'Kind of the type.' }) }),
        response: { status: 200, description: 'An account can be connected.', schema: OfferBody },
        errorStatuses: { 404: 'The type does not exist, or no client is configured for it and the organization.' },
      },
      ({ principal, organization, params, query }) => {
        const type = read(query.kind, params.type_id, principal);
        if (!type.oauth || !consents.offers(type, organization)) throw notFound();
        const { name, secret } = type.oauth;
        return { status: 200, body: { type_id: type.type_id, kind: type.kind, provider: name, secret } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path: '/v1/oauth/{type_id}/{org}',
        tag,
        operation: 'startOAuth',
        summary: 'Start to connect an account',
        description:
          'For the form: only sessions may call it. Open `url` in a window within the form, read the status until the account is connected, then save the connector with `{ "consent": id }` as the value of the secret, in the same session and with the same destination.',
        access: mayStart,
        params: TypeAndOrg,
        body: StartBody,
        response: { status: 200, description: 'Started.', schema: StartedBody },
        errorStatuses: { 404: 'No account can be connected for this type, organization and settings.' },
      },
      async ({ principal, organization, params, body }) => {
        const type = read(body.kind, params.type_id, principal);
        if (principal.type !== 'session') throw forbidden('This operation requires a session token.');
        const { session } = principal;
        const { id, state, expiresAt } = await consents.start(type, body.settings, { session, organization });
        const url = `${publicUrl}/v1/oauth/start?state=${state}`;
        return { status: 200, body: { id, url, expires_at: expiresAt.toISOString() } };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: '/v1/oauth/{type_id}/{org}/{id}',
        tag,
        operation: 'readOAuthStatus',
        summary: 'Read whether the account is connected',
        description: 'Only the session that started it can read it. It expires after 15 minutes, or when it is saved.',
        access: mayRead,
        params: TypeAndOrg.extend({
          id: Id.openapi({ description: 'From the response that started it.', example: EXAMPLE_ID }),
        }),
        response: { status: 200, description: 'The status.', schema: StatusBody },
        errorStatuses: { 404: 'It does not exist, has expired, or another session started it.' },
      },
      async ({ principal, params }) => {
        requireType(principal, params.type_id);
        // As for any other caller than the session that started it.
        if (principal.type !== 'session') throw notFound();
        const row = await consents.find(params.id, principal.session);
        if (row?.typeId !== params.type_id) throw notFound();
        const { status, account } = row;
        const shown = { granted: 'connected', cancelled: 'cancelled', failed: 'failed' } as const;
        const known = status === 'granted' || status === 'cancelled' || status === 'failed' ? shown[status] : 'pending';
        return { status: 200, body: { status: known, ...(account !== null && { account }) } };
      },
    ),
  ];
}
