import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { ApiError, invalidRequest, notFound } from '../api-error.js';
import { publicRoute, route, type Route } from '../http/route.js';
import type { SignInContext } from '../sign-in/create-sign-in.js';
import { readEmail } from '../sign-in/email.js';
import { finish } from '../sign-in/finish.js';
import { otpRequired } from '../sign-in/local-sign-in.js';
import { paths } from '../sign-in/pages/sign-in-pages.js';
import { readReturnTo } from '../sign-in/return-to.js';
import { SignInProblem } from '../sign-in/sign-in-problem.js';
import type { RouteContext } from './context.js';
import { cookiesOf, errorPages, EXPIRED, pageErrors, pageResponse, redirectTo, respondWith } from './page-route.js';
import { Id } from './schemas.js';

const Token = z.string().min(1).max(4_000);

const TokenBody = z
  .object({
    access_token: z.string().openapi({ description: 'Send it as `Authorization: Bearer`.' }),
    refresh_token: z.string().openapi({ description: 'Exchange it once for new tokens.' }),
    token_type: z.literal('Bearer'),
    expires_in: z.int().openapi({ description: 'Seconds until the access token expires.' }),
    email: z.string(),
  })
  .openapi('Tokens');

const tag = 'Sign-in';
const SENT = 'The mail was sent.';
const INVALID_BODY = 'The body is not valid.';
const NOT_CONSOLE = 'A browser may call this only from a page in CONSOLE_ORIGINS.';
const UNAVAILABLE = 'The database does not respond, or too many sign-ins are in progress.';
/** Seconds for which the link of a mail is valid. */
const VERIFY_TTL = 86_400;

/** Routes by which users sign in, and by which clients get and end their tokens. */
export function loginRoutes(context: RouteContext): Route[] {
  const { signIn, accessControl } = context;
  const { oidc, store, tokens } = signIn;
  const tokenResponse = { status: 200, description: 'The tokens.', schema: TokenBody } as const;

  /** Only a console may call these from a browser. They take no cookies. */
  function requireConsole(c: Context): void {
    const origin = c.req.header('origin');
    if (origin === undefined || signIn.consoleOrigins.has(origin)) return;
    throw new ApiError(403, 'origin_not_allowed', 'Only the pages in CONSOLE_ORIGINS may call this from a browser.');
  }

  return [
    beginRoute(context),

    callbackRoute(context),

    publicRoute(
      {
        method: 'post',
        path: '/v1/login/token',
        tag,
        operation: 'createToken',
        summary: 'Sign in with the password of a local account',
        description:
          'Only with local accounts: 404 if users sign in through an identity provider. Attempts are limited per account and client address.',
        body: z
          .object({
            username: z.string().max(254).openapi({ description: 'The e-mail address.' }),
            password: z.string().max(1_000),
            otp: z.string().max(40).optional().openapi({
              description:
                'Code of the authenticator app, or a recovery code. Required if the account has one: 401 `otp_required`.',
            }),
          })
          .openapi('CreateToken', {
            example: { username: 'ana@example.com', password: 'correct horse battery staple', otp: '123456' },
          }),
        response: tokenResponse,
        errorStatuses: {
          400: INVALID_BODY,
          401: 'The address, the password or the code is wrong, or `otp` is missing: `otp_required`.',
          403: 'The account has no access, needs a second factor first, or the page may not call this.',
          404: 'There are no local accounts.',
          429: 'Too many attempts from this address or at this account.',
          503: UNAVAILABLE,
        },
      },
      async ({ c, body }) => {
        requireConsole(c);
        if (oidc || !signIn.localAccounts) throw notFound();
        const address = accessControl.addressOf(c);
        const { user, needsCode } = await signIn.local.password(body.username, body.password, address);
        if (needsCode) {
          if (body.otp === undefined) throw otpRequired();
          await signIn.local.code(user.id, body.otp, address);
        } else if (signIn.requireSecondFactor) throw new SignInProblem('no_factor');
        await signIn.local.succeeded(user);
        if ((await store.memberships.ofUser(user.id)).length === 0) throw new SignInProblem('no_access');
        const started = await tokens.start(user, 'local');
        signIn.log.info({ user_id: user.id, sign_in_id: started.id, method: 'local' }, 'user signed in');
        return { status: 200, body: await tokens.issue(started, user) };
      },
    ),

    publicRoute(
      {
        method: 'post',
        path: '/v1/login/exchange',
        tag,
        operation: 'exchangeLoginCode',
        summary: 'Exchange the code of a sign-in for tokens',
        description: 'Once, within a minute, with the `code_verifier` whose `code_challenge` began the sign-in (PKCE).',
        body: z
          .object({ code: Token, code_verifier: z.string().regex(/^[\w.~-]{43,128}$/) })
          .openapi('ExchangeLoginCode', {
            example: {
              code: 'code-of-the-return-address',
              code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
            },
          }),
        response: tokenResponse,
        errorStatuses: {
          400: 'The code is unknown, used, expired, or belongs to another `code_verifier`.',
          401: 'The sign-in has ended meanwhile.',
          403: NOT_CONSOLE,
          429: 'Too many requests from this address.',
          503: UNAVAILABLE,
        },
      },
      async ({ c, body }) => {
        requireConsole(c);
        await accessControl.countAnonymous(c);
        const ticket = await store.signIns.redeem(tokens.digest(body.code), 'code', new Date(signIn.clock.now()));
        const { signInId, challenge } = CodeContent.parse(ticket?.content ?? { signInId: '', challenge: '' });
        const proof = createHash('sha256').update(body.code_verifier).digest();
        const expected = Buffer.from(challenge, 'base64url');
        const loaded = await store.signIns.load(signInId);
        if (!loaded || expected.length !== proof.length || !timingSafeEqual(expected, proof)) {
          // The code may have been stolen: end the sign-in.
          if (loaded) await store.signIns.end(signInId);
          throw invalidRequest('The code is not valid: unknown, used, expired, or of another code_verifier.');
        }
        return { status: 200, body: await tokens.issue(loaded.signIn, loaded.user) };
      },
    ),

    publicRoute(
      {
        method: 'post',
        path: '/v1/login/refresh',
        tag,
        operation: 'refreshToken',
        summary: 'Exchange a refresh token for new tokens',
        description: 'A refresh token is accepted once. One that was exchanged before ends the sign-in.',
        body: z.object({ refresh_token: Token }).openapi('RefreshToken', { example: { refresh_token: 'eyJ…' } }),
        response: tokenResponse,
        errorStatuses: {
          400: INVALID_BODY,
          401: 'The token is not valid, was used before, or the sign-in has ended.',
          403: NOT_CONSOLE,
          429: 'Too many requests from this address.',
          503: UNAVAILABLE,
        },
      },
      async ({ c, body }) => {
        requireConsole(c);
        await accessControl.countAnonymous(c);
        return { status: 200, body: await tokens.refresh(body.refresh_token) };
      },
    ),

    route(
      {
        method: 'post',
        path: '/v1/login/logout',
        tag,
        operation: 'logout',
        summary: 'End the sign-in of the request with all its tokens',
        description:
          'Other sign-ins of the user remain. Access tokens of this one are rejected from the next request on.',
        access: { permission: 'any', session: 'deny' },
        response: { status: 204, description: 'The sign-in has ended.' },
      },
      async ({ principal }) => {
        if (principal.type !== 'user') throw invalidRequest('Only a user can sign out.');
        await store.signIns.end(principal.signIn.id);
        context.principals.forget();
        return { status: 204 };
      },
    ),

    route(
      {
        method: 'post',
        path: '/v1/login/resend-verification',
        tag,
        operation: 'resendVerification',
        summary: 'Send a mail by which a user confirms the e-mail address',
        description: 'For local accounts whose address is not confirmed yet. Needs SMTP.',
        access: { permission: 'any', session: 'deny' },
        response: { status: 200, description: 'A sentence.', schema: z.string(), example: SENT },
      },
      async ({ principal }) => {
        const { mailer } = signIn;
        if (principal.type !== 'user') throw invalidRequest('Only a user has an e-mail address to confirm.');
        const { user } = principal;
        if (user.emailVerifiedAt !== null) throw invalidRequest('The e-mail address is confirmed already.');
        if (!mailer) throw invalidRequest('The service cannot send mails: SMTP_URL is not set.');
        await context.limits.consume({ invite: user.id });
        await store.signIns.withdraw(user.id, 'verify');
        const content = { email: user.email };
        const token = await tokens.ticket({ purpose: 'verify', userId: user.id, content, seconds: VERIFY_TTL });
        const link = `${signIn.publicUrl}${paths.link}?token=${token}`;
        await sendMail(signIn, {
          to: user.email,
          subject: 'Confirm your e-mail address',
          text: `Confirm that this address is yours:\n\n${link}\n\nThe link is valid for a day. If you did not request it, ignore this mail.\n`,
        });
        return { status: 200, body: JSON.stringify(SENT) };
      },
    ),
  ];
}

const CodeContent = z.object({ signInId: z.string(), challenge: z.string() });

/** @throws ApiError 503 if the mail server does not accept it */
export async function sendMail(
  { mailer, log }: SignInContext,
  mail: { to: string; subject: string; text: string },
): Promise<void> {
  try {
    await mailer?.send(mail);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    log.warn({ code }, 'mail not sent');
    throw new ApiError(503, 'unavailable', 'The mail server does not accept the mail. Retry later.', {
      headers: { 'Retry-After': '60' },
    });
  }
}

/** Returns the route that begins a sign-in: a person opens it in a browser, a program follows its redirect. */
function beginRoute({ signIn, accessControl }: RouteContext): Route {
  const { flows, oidc, store } = signIn;
  const begin = publicRoute(
    {
      method: 'get',
      path: '/v1/login',
      tag,
      operation: 'beginLogin',
      summary: 'Begin to sign in: redirects to the identity provider, or to a page of the service',
      description:
        'Without `return_to`, the sign-in ends at a page that shows an access token. With it, the browser returns there with `code` (and `state`), which the page exchanges for tokens: `POST /v1/login/exchange`.',
      query: z.object({
        return_to: z.string().max(1_000).optional().openapi({ description: 'A page of an origin in CONSOLE_ORIGINS.' }),
        code_challenge: z
          .string()
          .max(43)
          .optional()
          .openapi({ description: 'SHA-256 of the `code_verifier`, as base64url. Required with `return_to`.' }),
        state: z.string().max(500).optional().openapi({ description: 'Returned to the page.' }),
        email: z.string().max(254).optional().openapi({ description: 'Address to sign in with.' }),
        connection_id: Id.optional().openapi({ description: 'A connection, for users of an organization.' }),
      }),
      response: {
        status: 307,
        description: 'Continues at the identity provider, or at a page of the service.',
        headers: { Location: 'Where the browser continues.' },
      },
      errorStatuses: {
        400: '`return_to` is not a page of an origin in CONSOLE_ORIGINS, or `code_challenge` is missing.',
        404: 'There is no such connection.',
        429: 'Too many requests from this address.',
        503: 'The identity provider or the database does not respond.',
      },
    },
    async ({ c, query }) => {
      await accessControl.countAnonymous(c);
      const returnTo = readReturnTo(query, signIn.consoleOrigins);
      const email = query.email === undefined ? undefined : readEmail(query.email);
      const begun = { ...(returnTo && { returnTo }), ...(email !== undefined && { email }) };
      if (query.connection_id !== undefined) {
        const connection = await store.ssoConnections.ofSignIn(query.connection_id);
        if (!connection) throw notFound();
        const { url, requestId } = await signIn.connections.begin(connection);
        const flow = flows.begin({ ...begun, saml: { connectionId: connection.id, requestId } });
        return redirectTo(url, flows.cookie(flow), 307);
      }
      if (oidc && !(await store.ssoConnections.any())) {
        const { url, checks } = await oidc.begin(email);
        return redirectTo(url, flows.cookie(flows.begin({ ...begun, oidc: checks })), 307);
      }
      return redirectTo(signIn.base + paths.start, flows.cookie(flows.begin(begun)), 307);
    },
  );
  return { ...begin, renderError: errorPages(signIn), negotiatesErrors: true };
}

function callbackRoute({ signIn, accessControl }: RouteContext): Route {
  const { flows, oidc, accounts } = signIn;
  const callback = publicRoute(
    {
      method: 'get',
      path: '/v1/login/callback',
      tag,
      operation: 'completeLogin',
      summary: 'Complete a sign-in at the identity provider',
      description: 'A page that shows an access token, or that leads back to the page which began the sign-in.',
      query: z.looseObject({
        code: z.string().optional().openapi({ description: 'Code of the identity provider.' }),
        state: z.string().optional().openapi({ description: 'The `state` that the service sent there.' }),
        error: z.string().optional().openapi({ description: 'Why the identity provider refused the sign-in.' }),
      }),
      response: pageResponse,
      errorStatuses: {
        ...pageErrors,
        400: EXPIRED,
        403: 'The identity provider refused the sign-in, or there is no account for this identity.',
        404: 'The operator has not set an identity provider.',
        429: 'Too many requests from this address.',
        502: 'The response of the identity provider is not valid.',
      },
    },
    async ({ c, requestId }) => {
      await accessControl.countAnonymous(c);
      if (!oidc) throw notFound();
      const flow = flows.require(cookiesOf(c));
      if (!flow.oidc) throw new SignInProblem('expired');
      const identity = await oidc.complete(new URL(c.req.url).search, flow.oidc);
      const user = await accounts.ofOidc(identity, flow.invitationId, requestId);
      return respondWith(await finish(signIn, flow, user, { method: 'oidc' }), { cookie: flows.cleared });
    },
  );
  return { ...callback, renderError: errorPages(signIn) };
}
