import { domainOf } from '../sign-in/email.js';
import type { SignInContext } from '../sign-in/create-sign-in.js';
import type { Flow } from '../sign-in/flows.js';
import { connectionPage, leavePage, paths } from '../sign-in/pages/sign-in-pages.js';
import { SignInProblem } from '../sign-in/sign-in-problem.js';
import type { SsoConnection } from '../store/sso-connections.js';
import { hereOf, redirectTo, respondWith } from './page-route.js';

/** Returns the connections by which an address signs in; with an invitation, only those that accept it. */
export async function connectionsOf(
  { store, accounts }: SignInContext,
  email: string,
  { invitationId }: Flow,
): Promise<SsoConnection[]> {
  const found = await store.ssoConnections.withDomain(domainOf(email));
  if (found.length === 0 || invitationId === undefined) return found;
  const { organization } = await accounts.invitation(invitationId);
  return found.filter(({ organizationId: id }) => id === organization.id || id === organization.parentId);
}

/** Sends the browser to the identity provider of a connection. */
export async function leaveForConnection(
  { connections, flows }: SignInContext,
  flow: Flow,
  connection: SsoConnection,
): Promise<Response> {
  const { url, requestId } = await connections.begin(connection);
  const next = flows.begin({ ...flow, saml: { connectionId: connection.id, requestId } });
  return respondWith(leavePage(url), { cookie: flows.cookie(next) });
}

/**
 * Sends the browser to where an address signs in: a connection with its domain, the identity provider of
 * the operator, or the page that asks for a password.
 * @param usesPassword skips the connections
 * @throws SignInProblem `unknown` if there is no way
 */
export async function beginFor(
  signIn: SignInContext,
  flow: Flow,
  email: string,
  usesPassword = false,
): Promise<Response> {
  const { flows, oidc, localAccounts } = signIn;
  const next = { ...flow, email };
  const [only, ...more] = usesPassword ? [] : await connectionsOf(signIn, email, flow);
  if (only && more.length > 0) {
    const page = connectionPage(hereOf(signIn, next), { email, connections: [only, ...more] });
    return respondWith(page, { cookie: flows.cookie(next) });
  }
  if (only) return leaveForConnection(signIn, next, only);
  if (oidc) {
    const { url, checks } = await oidc.begin(email);
    return respondWith(leavePage(url), { cookie: flows.cookie(flows.begin({ ...next, oidc: checks })) });
  }
  if (!localAccounts) throw new SignInProblem('unknown');
  return redirectTo(signIn.base + paths.password, flows.cookie(flows.begin(next)));
}
