import { z } from '@hono/zod-openapi';
import { notFound } from '../api-error.js';
import type { Route } from '../http/route.js';
import { readEmail } from '../sign-in/email.js';
import { finish } from '../sign-in/finish.js';
import type { Flow } from '../sign-in/flows.js';
import { codePage, forgotPage, messagePage, passwordPage, paths, startPage } from '../sign-in/pages/sign-in-pages.js';
import { SignInProblem } from '../sign-in/sign-in-problem.js';
import type { User } from '../store/users.js';
import type { RouteContext } from './context.js';
import { beginFor, connectionsOf, leaveForConnection } from './login-begin.js';
import { sendMail } from './login.js';
import {
  cookiesOf,
  Csrf,
  EXPIRED,
  formExample,
  formOf,
  hereOf,
  pageRoute,
  PasswordForm,
  redirectTo,
  respondWith,
} from './page-route.js';
import { Id } from './schemas.js';

/** Seconds for which a link to a new password is valid. */
export const RESET_TTL = 3_600;

/** Cause of 404 of the pages that send a new password. */
const NO_RESET = 'There are no local accounts, or the service cannot send mails.';

/** Pages on which people sign in: the address, then a password and a code, or an identity provider. */
export function loginPageRoutes(context: RouteContext): Route[] {
  const { signIn, accessControl } = context;
  const { flows, store, local, mailer, tokens, localAccounts } = signIn;

  /** The last step of a local sign-in. */
  async function complete(flow: Flow, user: User, requestId: string): Promise<Response> {
    await local.succeeded(user);
    if (flow.invitationId !== undefined) await signIn.accounts.accept(user, 'local', flow.invitationId, requestId);
    return respondWith(await finish(signIn, flow, user, { method: 'local' }), { cookie: flows.cleared });
  }

  return [
    pageRoute(
      signIn,
      {
        method: 'get',
        path: paths.start,
        operation: 'showLogin',
        summary: 'The page that asks for the address',
        description: 'Begins a sign-in in this browser, or continues the one that its cookie contains.',
        errors: {},
      },
      async ({ c }) => {
        const flow = flows.read(cookiesOf(c)) ?? flows.begin();
        const withPassword = localAccounts && (await store.ssoConnections.any());
        const page = startPage(hereOf(signIn, flow), { email: flow.email, withPassword });
        return respondWith(page, { cookie: flows.cookie(flow) });
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'post',
        path: paths.start,
        operation: 'submitLogin',
        summary: 'Choose how an address signs in',
        description:
          'Continues at the connection with the domain of the address, at the identity provider of the operator, or at the page that asks for a password. Sent by the page of `showLogin`.',
        errors: {
          400: 'The address is not valid, or the sign-in has expired.',
          403: 'There is no way to sign in with this address.',
          429: 'Too many requests from this address.',
          503: 'The identity provider or the database does not respond.',
        },
        body: z
          .object({ csrf: Csrf, email: z.string().max(254), with: z.literal('password').optional() })
          .openapi('LoginForm', { example: { ...formExample, email: 'ana@example.com' } }),
      },
      async ({ c, body }) => {
        await accessControl.countAnonymous(c);
        const flow = formOf(signIn, c, body.csrf);
        const email = readEmail(body.email);
        if (email === undefined) {
          const withPassword = localAccounts && (await store.ssoConnections.any());
          const here = hereOf(signIn, flow, 'Enter an e-mail address, such as ana@example.com.');
          return respondWith(startPage(here, { email: body.email, withPassword }), { status: 400 });
        }
        return beginFor(signIn, flow, email, body.with === 'password' && localAccounts);
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'post',
        path: paths.connection,
        operation: 'submitConnection',
        summary: 'Choose one of the connections of an address',
        description: 'Sent by the page that lists the connections with the domain of the address.',
        errors: { 400: EXPIRED, 429: 'Too many requests from this address.' },
        body: z
          .object({ csrf: Csrf, connection: Id })
          .openapi('ConnectionForm', { example: { ...formExample, connection: 'id-of-a-connection' } }),
      },
      async ({ c, body }) => {
        await accessControl.countAnonymous(c);
        const flow = formOf(signIn, c, body.csrf);
        const offered = flow.email === undefined ? [] : await connectionsOf(signIn, flow.email, flow);
        const chosen = offered.find(({ id }) => id === body.connection);
        if (!chosen) throw new SignInProblem('expired');
        return leaveForConnection(signIn, flow, chosen);
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'get',
        path: paths.password,
        operation: 'showPassword',
        summary: 'The page that asks for a password',
        description: 'For local accounts, after the page that asks for the address.',
        errors: { 400: EXPIRED },
      },
      ({ c }) => {
        const flow = flows.require(cookiesOf(c));
        if (flow.email === undefined || !localAccounts) throw new SignInProblem('expired');
        const canReset = mailer !== undefined;
        return respondWith(passwordPage(hereOf(signIn, flow), { email: flow.email, canReset }));
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'post',
        path: paths.password,
        operation: 'submitPassword',
        summary: 'Verify a password',
        description:
          'Continues at the page that asks for a code, or at the one that sets up a second factor, or completes the sign-in. Each attempt counts against the account and the client address.',
        errors: {
          400: EXPIRED,
          401: 'The password is wrong, or there is no such account.',
          403: 'The account has no access, or the invitation is for another address.',
          429: 'Too many attempts from this address or at this account.',
        },
        body: PasswordForm,
      },
      async ({ c, body, requestId }) => {
        const flow = formOf(signIn, c, body.csrf);
        const { email } = flow;
        if (email === undefined || !localAccounts) throw new SignInProblem('expired');
        const result = await local.password(email, body.password, accessControl.addressOf(c)).catch(asProblem);
        if (result instanceof SignInProblem) {
          const here = hereOf(signIn, flow, result.message);
          return respondWith(passwordPage(here, { email, canReset: mailer !== undefined }), { status: result.status });
        }
        const { user, needsCode } = result;
        if (needsCode) {
          const next = flows.begin({ ...flow, passwordOf: user.id });
          return redirectTo(signIn.base + paths.code, flows.cookie(next));
        }
        if (!signIn.requireSecondFactor) return complete(flow, user, requestId);
        const setup = { purpose: 'mfa', userId: user.id, email: user.email, username: user.username } as const;
        const next = flows.begin({
          ...flow,
          passwordOf: user.id,
          setup: { ...setup, totp: signIn.secondFactor.newSecret() },
        });
        return redirectTo(signIn.base + paths.setup, flows.cookie(next));
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'get',
        path: paths.code,
        operation: 'showCode',
        summary: 'The page that asks for a code',
        description: 'For accounts with a second factor, after the password.',
        errors: { 400: EXPIRED },
      },
      ({ c }) => {
        const flow = flows.require(cookiesOf(c));
        if (flow.passwordOf === undefined) throw new SignInProblem('expired');
        return respondWith(codePage(hereOf(signIn, flow)));
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'post',
        path: paths.code,
        operation: 'submitCode',
        summary: 'Verify a code of the authenticator app',
        description: 'Completes the sign-in. Recovery codes are accepted as well, each once.',
        errors: {
          400: EXPIRED,
          401: 'The code is wrong or was used.',
          403: 'The account has no access, or the invitation is for another address.',
          429: 'Too many attempts from this address or at this account.',
        },
        body: z
          .object({ csrf: Csrf, code: z.string().max(40) })
          .openapi('CodeForm', { example: { ...formExample, code: '123456' } }),
      },
      async ({ c, body, requestId }) => {
        const flow = formOf(signIn, c, body.csrf);
        if (flow.passwordOf === undefined) throw new SignInProblem('expired');
        const result = await local.code(flow.passwordOf, body.code, accessControl.addressOf(c)).catch(asProblem);
        if (!(result instanceof SignInProblem)) return complete(flow, result, requestId);
        return respondWith(codePage(hereOf(signIn, flow, result.message)), { status: result.status });
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'get',
        path: paths.forgot,
        operation: 'showForgot',
        summary: 'The page that sends a new password',
        description: 'Only with local accounts and SMTP.',
        errors: { 404: NO_RESET },
      },
      ({ c }) => {
        if (!mailer || !localAccounts) throw notFound();
        const flow = flows.read(cookiesOf(c)) ?? flows.begin();
        return respondWith(forgotPage(hereOf(signIn, flow)), { cookie: flows.cookie(flow) });
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'post',
        path: paths.forgot,
        operation: 'submitForgot',
        summary: 'Send a link to a new password',
        description: 'Responds the same whether there is an account with this address or not.',
        errors: {
          400: 'The address is not valid, or the sign-in has expired.',
          404: NO_RESET,
          429: 'Too many attempts from this address or at this account.',
        },
        body: z
          .object({ csrf: Csrf, email: z.string().max(254) })
          .openapi('ForgotForm', { example: { ...formExample, email: 'ana@example.com' } }),
      },
      async ({ c, body }) => {
        if (!mailer || !localAccounts) throw notFound();
        const flow = formOf(signIn, c, body.csrf);
        const email = readEmail(body.email);
        if (email === undefined) {
          const here = hereOf(signIn, flow, 'Enter an e-mail address, such as ana@example.com.');
          return respondWith(forgotPage(here), { status: 400 });
        }
        await context.limits.consume({ sign_in_address: accessControl.addressOf(c) });
        await context.limits.consume({ invite: context.vault.digest('account', email).toString('base64url') });
        // Not awaited: the time must not tell whether there is an account.
        void sendReset(email).catch(() => undefined);
        const text = `If ${email} has an account here, a mail with a link is on its way.`;
        return respondWith(messagePage('Look at your mail', text));
      },
    ),
  ];

  async function sendReset(email: string): Promise<void> {
    const user = await store.users.byEmail(email, null);
    if (!user || !(await store.users.credentials(user.id))) return;
    await store.signIns.withdraw(user.id, 'reset');
    const content = { factor: false };
    const token = await tokens.ticket({ purpose: 'reset', userId: user.id, content, seconds: RESET_TTL });
    const link = `${signIn.publicUrl}${paths.link}?token=${token}`;
    await sendMail(signIn, {
      to: email,
      subject: 'Reset your password',
      text: `Choose a new password:\n\n${link}\n\nThe link is valid for an hour. If you did not request it, ignore this mail.\n`,
    });
  }
}

/** Returns a problem that a page shows next to its field; other errors are thrown again. */
export function asProblem(error: unknown): SignInProblem {
  if (error instanceof SignInProblem) return error;
  throw error;
}
