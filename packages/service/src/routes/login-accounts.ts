import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { roleNameOf } from '../auth/organization-role.js';
import type { Route } from '../http/route.js';
import { finish } from '../sign-in/finish.js';
import type { AccountSetup, Flow } from '../sign-in/flows.js';
import { passwordProblem } from '../sign-in/passwords.js';
import type { Page } from '../sign-in/pages/html.js';
import {
  codeListPage,
  confirmPasswordPage,
  invitationPage,
  messagePage,
  newPasswordPage,
  paths,
  setupPage,
  verifyPage,
  type InvitationView,
} from '../sign-in/pages/sign-in-pages.js';
import { SignInProblem } from '../sign-in/sign-in-problem.js';
import type { LocalCredentials, User } from '../store/users.js';
import type { RouteContext } from './context.js';
import { beginFor, connectionsOf } from './login-begin.js';
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
import { asProblem } from './login-pages.js';

/** Purposes of tickets whose links open one of these pages. */
const PURPOSES = ['mfa', 'reset', 'verify'] as const;
const ResetContent = z.object({ factor: z.boolean() });

/**
 * Pages on which people set up and change their accounts. Each begins with a link that contains a token:
 * opening it changes nothing, because scanners of mails open links, and the token leaves the address at
 * once.
 */
export function loginAccountRoutes(context: RouteContext): Route[] {
  const { signIn, accessControl } = context;
  const { flows, store, accounts, tokens, secondFactor, passwords, clock, local } = signIn;
  const nowDate = (): Date => new Date(clock.now());

  /** Returns the path of the page of a link, and the flow that it begins. @throws SignInProblem `used` */
  async function open(token: string): Promise<{ path: string; flow: Flow }> {
    const digest = tokens.digest(token);
    const invitation = await store.invitations.byDigest(digest);
    if (invitation) {
      await accounts.invitation(invitation.id);
      return { path: paths.invitation, flow: flows.begin({ invitationId: invitation.id, email: invitation.email }) };
    }
    for (const purpose of PURPOSES) {
      const ticket = await store.signIns.ticket(digest, purpose, nowDate());
      const user = ticket?.userId == null ? undefined : await store.users.get(ticket.userId);
      if (!ticket || !user) continue;
      const text = digest.toString('base64url');
      if (purpose === 'verify') {
        const flow = flows.begin({ email: user.email, link: { purpose, ticket: text } });
        return { path: paths.verify, flow };
      }
      const { id: userId, email, username } = user;
      const setup: AccountSetup = { purpose, userId, email, username, ticket: text };
      const withFactor = purpose === 'mfa' || ResetContent.parse(ticket.content).factor;
      return {
        path: paths.newPassword,
        flow: flows.begin({ setup: { ...setup, ...(withFactor && { totp: secondFactor.newSecret() }) } }),
      };
    }
    throw new SignInProblem('used');
  }

  /** Redeems the ticket that allowed a change. @throws SignInProblem `used` */
  async function redeem(ticket: string | undefined, purpose: (typeof PURPOSES)[number]): Promise<void> {
    const digest = Buffer.from(ticket ?? '', 'base64url');
    if (!(await store.signIns.redeem(digest, purpose, nowDate()))) throw new SignInProblem('used');
  }

  async function invitationView(flow: Flow): Promise<InvitationView> {
    if (flow.invitationId === undefined) throw new SignInProblem('expired');
    const { invitation, organization } = await accounts.invitation(flow.invitationId);
    const role = await store.roles.get(organization.id, invitation.roleId);
    const hasAccount = signIn.oidc !== undefined || (await connectionsOf(signIn, invitation.email, flow)).length > 0;
    const before = hasAccount ? undefined : await store.users.byEmail(invitation.email, null);
    const isLocal = before !== undefined && (await store.users.credentials(before.id)) !== undefined;
    if (!hasAccount && !signIn.localAccounts) throw new SignInProblem('method');
    return {
      organization: organization.friendlyName === '' ? organization.name : organization.friendlyName,
      email: invitation.email,
      role: roleNameOf(invitation.roleId, role?.name ?? null),
      accept: hasAccount || isLocal ? 'sign-in' : 'account',
    };
  }

  /** The secret that the page shows. */
  function setupView({ totp = '', email, purpose }: AccountSetup) {
    const skippable = purpose === 'invitation' && !signIn.requireSecondFactor;
    return { secret: totp, uri: secondFactor.uri(totp, email), skippable };
  }

  /** Returns credentials with a new second factor, and the recovery codes to show. */
  function withFactor(userId: string, totp: string, step: number) {
    const { codes, digests } = secondFactor.newRecoveryCodes(userId);
    const values = {
      totp: secondFactor.seal(userId, totp),
      totpStep: step,
      totpCreatedAt: nowDate(),
      recoveryCodes: digests,
    };
    return { codes, values };
  }

  /** Creates the invited account, and signs in. */
  async function createAccount(flow: Flow, setup: AccountSetup, step: number | undefined, requestId: string) {
    const { passwordHash: password, totp, username } = setup;
    if (password === undefined || flow.invitationId === undefined) throw new SignInProblem('expired');
    const id = randomUUID();
    const factor = step === undefined || totp === undefined ? undefined : withFactor(id, totp, step);
    const none = { totp: null, totpStep: 0, totpCreatedAt: null, recoveryCodes: [] };
    const credentials = { password, ...(factor?.values ?? none) };
    const user = await accounts.createLocal({ id, username, credentials }, flow.invitationId, requestId);
    return finish(signIn, flow, user, { method: 'local', ...(factor && { recoveryCodes: factor.codes }) });
  }

  /** Stores a changed password or second factor. A reset ends the sign-ins of the account. */
  async function changeAccount(user: User, values: Partial<LocalCredentials>, isReset: boolean): Promise<void> {
    await store.transaction(async ({ users, signIns }) => {
      await users.lock(user.id);
      const before = await users.credentials(user.id);
      const password = values.password ?? before?.password;
      if (password === undefined) throw new SignInProblem('expired');
      const none = { totp: null, totpStep: 0, totpCreatedAt: null, recoveryCodes: [] };
      await users.setCredentials({ ...none, ...before, ...values, userId: user.id, password, updatedAt: nowDate() });
      if (!before) {
        const identity = {
          id: randomUUID(),
          userId: user.id,
          provider: 'local',
          issuer: '',
          subject: user.id,
        } as const;
        await users.addIdentity({ ...identity, createdAt: nowDate() });
      }
      if (isReset) await signIns.endAll(user.id);
    });
    context.principals.forget();
  }

  async function submitSetup(flow: Flow, code: string | undefined, skip: boolean, requestId: string): Promise<Page> {
    const setup = setupOf(flow);
    const view = setupView(setup);
    // The address of this page alone must not change an account: a password comes first.
    const isAllowed = setup.purpose === 'mfa' ? flow.passwordOf === setup.userId : setup.passwordHash !== undefined;
    if (!isAllowed || setup.totp === undefined) throw new SignInProblem('expired');
    const step = code === undefined ? undefined : secondFactor.stepOf(setup.totp, code);
    if (step === undefined && !(skip && view.skippable)) throw new SignInProblem('code');
    if (setup.purpose === 'invitation') return createAccount(flow, setup, skip ? undefined : step, requestId);
    const user = setup.userId === undefined ? undefined : await store.users.get(setup.userId);
    if (!user || step === undefined) throw new SignInProblem('expired');
    const { codes, values } = withFactor(user.id, setup.totp, step);
    // Without a ticket, the setup is a step of a sign-in, after the password.
    if (setup.ticket === undefined) {
      await changeAccount(user, values, false);
      await local.succeeded(user);
      if (flow.invitationId !== undefined) await accounts.accept(user, 'local', flow.invitationId, requestId);
      return finish(signIn, flow, user, { method: 'local', recoveryCodes: codes });
    }
    const isReset = setup.purpose === 'reset';
    await redeem(setup.ticket, isReset ? 'reset' : 'mfa');
    await changeAccount(user, { ...values, ...(isReset && { password: setup.passwordHash }) }, isReset);
    const next = { href: signIn.base + paths.start, label: 'Sign in' };
    return codeListPage(codes, isReset ? next : undefined);
  }

  return [
    pageRoute(
      signIn,
      {
        method: 'get',
        path: paths.link,
        operation: 'openLoginLink',
        summary: 'Open the link of an invitation or a mail',
        description:
          'Redirects to the page of the link, without the token in its address. Changes nothing, because scanners of mails open links.',
        errors: { 400: 'The link was used, replaced or has expired.', 429: 'Too many requests from this address.' },
        query: z.object({ token: z.string().max(200).optional().openapi({ description: 'Token of the link.' }) }),
      },
      async ({ c, query }) => {
        await accessControl.countAnonymous(c);
        const { path, flow } = await open(query.token ?? '');
        return redirectTo(signIn.base + path, flows.cookie(flow));
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'get',
        path: paths.invitation,
        operation: 'showInvitation',
        summary: 'The page of an invitation',
        description: 'Shows the organization, the address and the role, and how to accept.',
        errors: {
          400: 'The sign-in or the invitation has expired.',
          403: 'There is no way to sign in with this address.',
        },
      },
      async ({ c }) => {
        const flow = flows.require(cookiesOf(c));
        return respondWith(invitationPage(hereOf(signIn, flow), await invitationView(flow)));
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'post',
        path: paths.invitation,
        operation: 'submitInvitation',
        summary: 'Accept an invitation',
        description:
          'Continues at the identity provider of the address, or at the page that sets up the second factor of a new local account. The invitation is accepted when the sign-in completes.',
        errors: {
          400: 'Name or password are not valid, or the invitation has expired.',
          403: 'There is no way to sign in with this address.',
          429: 'Too many requests from this address.',
          503: 'The identity provider or the database does not respond.',
        },
        body: z
          .object({ csrf: Csrf, username: z.string().max(200).optional(), password: z.string().max(1_000).optional() })
          .openapi('InvitationForm', {
            example: { ...formExample, username: 'Ana', password: 'correct horse battery staple' },
          }),
      },
      async ({ c, body }) => {
        await accessControl.countAnonymous(c);
        const flow = formOf(signIn, c, body.csrf);
        const view = await invitationView(flow);
        if (view.accept === 'sign-in') return beginFor(signIn, flow, view.email);
        const username = (body.username ?? '').trim();
        const errors = {
          username: username === '' ? 'Enter your name.' : undefined,
          password: passwordProblem(body.password ?? '', { email: view.email, username }),
        };
        if (errors.username !== undefined || errors.password !== undefined) {
          return respondWith(invitationPage(hereOf(signIn, flow), { ...view, username, errors }), { status: 400 });
        }
        const setup: AccountSetup = {
          purpose: 'invitation',
          email: view.email,
          username,
          passwordHash: await passwords.hash(body.password ?? ''),
          totp: secondFactor.newSecret(),
        };
        return redirectTo(signIn.base + paths.setup, flows.cookie(flows.begin({ ...flow, setup })));
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'get',
        path: paths.setup,
        operation: 'showSetup',
        summary: 'The page that sets up a second factor',
        description: 'Shows the secret of an authenticator app as a QR code and as text.',
        errors: { 400: EXPIRED },
      },
      ({ c }) => {
        const flow = flows.require(cookiesOf(c));
        const setup = setupOf(flow);
        if (setup.totp === undefined) throw new SignInProblem('expired');
        return respondWith(setupPage(hereOf(signIn, flow), setupView(setup)));
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'post',
        path: paths.setup,
        operation: 'submitSetup',
        summary: 'Turn on a second factor',
        description:
          'Verifies the first code of the app, stores the second factor, and shows the recovery codes. After an invitation it also creates the account; `skip` does that without a second factor where the operator allows it.',
        errors: {
          400: EXPIRED,
          401: 'The code is wrong or was used.',
          403: 'The account has no access, or the invitation is for another address.',
          429: 'Too many attempts from this address or at this account.',
        },
        body: z
          .object({ csrf: Csrf, code: z.string().max(10).optional(), skip: z.literal('yes').optional() })
          .openapi('SetupForm', { example: { ...formExample, code: '123456' } }),
      },
      async ({ c, body, requestId }) => {
        const flow = formOf(signIn, c, body.csrf);
        await context.limits.consume({ sign_in_address: accessControl.addressOf(c) });
        const code = body.code?.replaceAll(/\s/g, '');
        const result = await submitSetup(flow, code, body.skip === 'yes', requestId).catch(asProblem);
        if (!(result instanceof SignInProblem)) return respondWith(result, { cookie: flows.cleared });
        if (result.code !== 'code') throw result;
        return respondWith(setupPage(hereOf(signIn, flow, result.message), setupView(setupOf(flow))), {
          status: result.status,
        });
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'get',
        path: paths.newPassword,
        operation: 'showNewPassword',
        summary: 'The page that asks for a new password, or for the present one before a change',
        description: 'Opened by the link of a reset, or of a change of the second factor.',
        errors: { 400: EXPIRED },
      },
      ({ c }) => {
        const flow = flows.require(cookiesOf(c));
        const { purpose, email } = setupOf(flow);
        const page = purpose === 'reset' ? newPasswordPage : confirmPasswordPage;
        return respondWith(page(hereOf(signIn, flow), { email }));
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'post',
        path: paths.newPassword,
        operation: 'submitNewPassword',
        summary: 'Set a new password, or confirm the present one before a change',
        description: 'A new password ends all sign-ins of the account.',
        errors: {
          400: 'The password is too weak, or the link was used or has expired.',
          401: 'The password is wrong, or there is no such account.',
          429: 'Too many attempts from this address or at this account.',
        },
        body: PasswordForm,
      },
      async ({ c, body }) => {
        await accessControl.countAnonymous(c);
        const flow = formOf(signIn, c, body.csrf);
        const setup = setupOf(flow);
        const { email, username } = setup;
        if (setup.purpose !== 'reset') {
          const result = await local.password(email, body.password, accessControl.addressOf(c)).catch(asProblem);
          if (result instanceof SignInProblem) {
            const page = confirmPasswordPage(hereOf(signIn, flow, result.message), { email });
            return respondWith(page, { status: result.status });
          }
          if (result.user.id !== setup.userId) throw new SignInProblem('expired');
          await local.succeeded(result.user);
          const next = flows.begin({ ...flow, passwordOf: result.user.id });
          return redirectTo(signIn.base + paths.setup, flows.cookie(next));
        }
        const problem = passwordProblem(body.password, { email, username });
        if (problem !== undefined) {
          return respondWith(newPasswordPage(hereOf(signIn, flow, problem), { email }), { status: 400 });
        }
        const passwordHash = await passwords.hash(body.password);
        if (setup.totp !== undefined) {
          const next = flows.begin({ ...flow, setup: { ...setup, passwordHash } });
          return redirectTo(signIn.base + paths.setup, flows.cookie(next));
        }
        await redeem(setup.ticket, 'reset');
        const user = setup.userId === undefined ? undefined : await store.users.get(setup.userId);
        if (!user) throw new SignInProblem('used');
        await changeAccount(user, { password: passwordHash }, true);
        const next = { href: signIn.base + paths.start, label: 'Sign in' };
        return respondWith(messagePage('Your password is changed', 'You are signed out everywhere else.', next), {
          cookie: flows.cleared,
        });
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'get',
        path: paths.verify,
        operation: 'showVerify',
        summary: 'The page that confirms an address',
        description: 'Opened by the link of the mail that `resendVerification` sends.',
        errors: { 400: EXPIRED },
      },
      ({ c }) => {
        const flow = flows.require(cookiesOf(c));
        if (!flow.link || flow.email === undefined) throw new SignInProblem('expired');
        return respondWith(verifyPage(hereOf(signIn, flow), { email: flow.email }));
      },
    ),

    pageRoute(
      signIn,
      {
        method: 'post',
        path: paths.verify,
        operation: 'submitVerify',
        summary: 'Confirm an address',
        description: 'Accepts the link once, and only for the address that it was sent to.',
        errors: { 400: 'The link was used, replaced or has expired.', 429: 'Too many requests from this address.' },
        body: z.object({ csrf: Csrf }).openapi('VerifyForm', { example: formExample }),
      },
      async ({ c, body }) => {
        await accessControl.countAnonymous(c);
        const flow = formOf(signIn, c, body.csrf);
        const digest = Buffer.from(flow.link?.ticket ?? '', 'base64url');
        const ticket = await store.signIns.redeem(digest, 'verify', nowDate());
        const user = ticket?.userId == null ? undefined : await store.users.get(ticket.userId);
        // The address may have changed since the mail was sent.
        if (!user || user.email !== flow.email) throw new SignInProblem('used');
        await store.users.change({ ...user, emailVerifiedAt: nowDate(), updatedAt: nowDate() });
        context.principals.forget();
        const page = messagePage('Your e-mail address is confirmed', 'You can close this page.');
        return respondWith(page, { cookie: flows.cleared });
      },
    ),
  ];
}

const setupOf = (flow: Flow): AccountSetup => {
  if (!flow.setup) throw new SignInProblem('expired');
  return flow.setup;
};
