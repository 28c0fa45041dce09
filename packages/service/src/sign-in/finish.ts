import { ACCESS_TTL } from '../auth/user-tokens.js';
import type { SignInMethod } from '../store/tables.js';
import type { User } from '../store/users.js';
import type { SignInContext } from './create-sign-in.js';
import type { Flow } from './flows.js';
import { codeListPage, leavePage, signedInPage } from './pages/sign-in-pages.js';
import type { Page } from './pages/html.js';
import { returnAddress } from './return-to.js';
import { SignInProblem } from './sign-in-problem.js';

/** Seconds in which a console must exchange its code. */
const CODE_TTL = 60;
/** The same, while the user also has to keep recovery codes. */
const SLOW_CODE_TTL = 900;

export interface Finish {
  method: SignInMethod;
  endsAt?: Date | undefined;
  /** New recovery codes to show. */
  recoveryCodes?: readonly string[];
}

/**
 * Ends a sign-in: the browser returns to the console with a code, or the page shows an access token.
 * @throws SignInProblem `no_access` for a user without any role
 */
export async function finish(
  { store, tokens, log }: SignInContext,
  { returnTo }: Flow,
  user: User,
  { method, endsAt, recoveryCodes }: Finish,
): Promise<Page> {
  const memberships = await store.memberships.ofUser(user.id);
  if (memberships.length === 0) throw new SignInProblem('no_access');
  const signIn = await tokens.start(user, method, endsAt);
  log.info({ user_id: user.id, sign_in_id: signIn.id, method }, 'user signed in');
  if (!returnTo) {
    const { access_token: token } = await tokens.issue(signIn, user);
    const minutes = Math.floor(ACCESS_TTL / 60);
    return signedInPage({ name: user.username, token, minutes, recoveryCodes });
  }
  const code = await tokens.ticket({
    purpose: 'code',
    userId: user.id,
    content: { signInId: signIn.id, challenge: returnTo.challenge },
    seconds: recoveryCodes ? SLOW_CODE_TTL : CODE_TTL,
  });
  const address = returnAddress(returnTo, code);
  return recoveryCodes ? codeListPage(recoveryCodes, { href: address, label: 'Continue' }) : leavePage(address);
}
