import { z } from '@hono/zod-openapi';
import { notFound } from '../api-error.js';
import { newApiHeaders } from '../http/respond.js';
import { publicRoute, type Route } from '../http/route.js';
import { finish } from '../sign-in/finish.js';
import { paths } from '../sign-in/pages/sign-in-pages.js';
import { SignInProblem } from '../sign-in/sign-in-problem.js';
import type { RouteContext } from './context.js';
import { cookiesOf, EXPIRED, pageRoute, redirectTo, respondWith } from './page-route.js';
import { Id } from './schemas.js';

/** Seconds between the response of the provider and the page that continues with it. */
const CONTINUE_TTL = 120;

const Connection = z.object({ id: Id });

const Content = z.object({
  connectionId: z.string(),
  identity: z.object({
    assertionId: z.string(),
    expiresAt: z.coerce.date(),
    requestId: z.string(),
    nameId: z.string(),
    email: z.unknown(),
    name: z.string().optional(),
    sessionEndsAt: z.coerce.date().optional(),
  }),
});

/** Routes of SAML: the metadata of the service, and the responses of identity providers. */
export function loginSamlRoutes({ signIn, accessControl }: RouteContext): Route[] {
  const { flows, store, tokens, accounts, connections, clock } = signIn;
  return [
    publicRoute(
      {
        method: 'get',
        path: '/login/saml/{id}',
        tag: 'Sign-in',
        operation: 'readSamlMetadata',
        summary: 'Metadata of the service for the identity provider of a connection',
        description: 'Its address is the entity ID of the service; `/acs` below it receives responses.',
        params: Connection,
        response: {
          status: 200,
          description: 'SAML 2.0 metadata.',
          schema: z.string(),
          contentType: 'application/samlmetadata+xml',
          example:
            '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://connect.example/login/saml/3f7c">…</EntityDescriptor>',
        },
        errorStatuses: {
          404: 'There is no such connection.',
          429: 'Too many requests from this address.',
          503: 'The database does not respond.',
        },
      },
      async ({ c, params }) => {
        await accessControl.countAnonymous(c);
        const connection = await store.ssoConnections.ofSignIn(params.id);
        if (!connection) throw notFound();
        const headers = { ...newApiHeaders(), 'Content-Type': 'application/samlmetadata+xml' };
        return new Response(await signIn.saml.metadata(connection.id), { headers });
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'post',
        path: '/login/saml/{id}/acs',
        operation: 'receiveSamlResponse',
        summary: 'Receive the response of an identity provider',
        errors: {
          400: 'The form or the response is not valid: unsigned, expired, accepted before, or for another service.',
          403: 'The identity provider refused the sign-in.',
          429: 'Too many requests from this address.',
        },
        description:
          'The browser sends it from another site, so without the cookie of the sign-in. It is verified and continued on a page of the service, which compares both. Responses without a request are rejected.',
        params: Connection,
        body: z
          .looseObject({ SAMLResponse: z.string().max(65_536), RelayState: z.string().max(1_000).optional() })
          .openapi('SamlResponse', { example: { SAMLResponse: 'PHNhbWxwOlJlc3BvbnNl…' } }),
      },
      async ({ c, params, body }) => {
        await accessControl.countAnonymous(c);
        const connection = await store.ssoConnections.ofSignIn(params.id);
        if (!connection) throw new SignInProblem('response');
        const identity = await connections.verify(connection, body.SAMLResponse);
        const isNew = await store.signIns.acceptAssertion(connection.id, identity.assertionId, identity.expiresAt);
        if (!isNew) throw new SignInProblem('response');
        const content = { connectionId: connection.id, identity: { ...identity } };
        const ticket = { purpose: 'saml', userId: null, content, seconds: CONTINUE_TTL };
        const token = await tokens.ticket(ticket);
        return redirectTo(`${signIn.base}${paths.samlContinue}?ticket=${token}`);
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'get',
        path: paths.samlContinue,
        operation: 'continueSaml',
        summary: 'Complete a sign-in after the response of an identity provider',
        description: 'Compares the response with the request of this browser, and completes the sign-in.',
        errors: {
          400: EXPIRED,
          403: 'There is no account for this identity, or it has no access.',
          429: 'Too many requests from this address.',
          502: 'The identity provider sent no e-mail address.',
        },
        query: z.object({
          ticket: z.string().max(200).optional().openapi({ description: 'Refers to the response, once.' }),
        }),
      },
      async ({ c, query, requestId }) => {
        await accessControl.countAnonymous(c);
        const now = new Date(clock.now());
        const ticket = await store.signIns.redeem(tokens.digest(query.ticket ?? ''), 'saml', now);
        const flow = flows.require(cookiesOf(c));
        if (!ticket || !flow.saml) throw new SignInProblem('expired');
        const { connectionId, identity } = Content.parse(ticket.content);
        // The response belongs to a request from another browser.
        if (flow.saml.connectionId !== connectionId || flow.saml.requestId !== identity.requestId) {
          throw new SignInProblem('expired');
        }
        const connection = await store.ssoConnections.ofSignIn(connectionId);
        if (!connection) throw new SignInProblem('expired');
        const { nameId, email, name } = identity;
        const user = await accounts.ofSaml(connection, { nameId, email, name }, flow.invitationId, requestId);
        const ends = [identity.sessionEndsAt?.getTime() ?? Infinity];
        if (connection.sessionTimeout !== null) ends.push(clock.now() + connection.sessionTimeout * 1_000);
        const end = Math.min(...ends);
        const endsAt = end === Infinity ? undefined : new Date(end);
        const page = await finish(signIn, flow, user, { method: 'saml', endsAt });
        return respondWith(page, { cookie: flows.cleared });
      },
    ),
  ];
}
