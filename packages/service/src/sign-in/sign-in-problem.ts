import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { ApiError } from '../api-error.js';

const NOT_CONFIRMED = 'Your identity provider did not confirm the sign-in. Start again, or ask your administrator.';

/**
 * Why a sign-in failed. Pages show the sentence of each; the log contains the code.
 */
const problems = {
  expired: [400, 'This sign-in took too long, or it was started in another tab. Start again.'],
  used: [400, 'This link is not valid: it was used, replaced by a newer one, or has expired. Ask for a new one.'],
  credentials: [401, 'The e-mail address or the password is wrong.'],
  code: [401, 'The code is wrong, or it was used already. Wait for the next one.'],
  provider: [502, NOT_CONFIRMED],
  // The browser brought the response, so the fault is in the request, not with a server behind ours.
  response: [400, NOT_CONFIRMED],
  unavailable: [503, 'Your identity provider does not respond. Try again later.'],
  denied: [403, 'Your identity provider refused the sign-in. Ask your administrator.'],
  unverified: [
    403,
    'Your identity provider does not confirm that this e-mail address is yours. Confirm it there first.',
  ],
  taken: [403, 'Another account has this e-mail address. Ask your administrator.'],
  domain: [403, 'Your identity provider sent an e-mail address of another organization. Ask your administrator.'],
  unknown: [403, 'You have no account here. Open the link in your invitation, or ask your administrator for one.'],
  other_address: [403, 'This invitation is for another e-mail address than the one you signed in with.'],
  no_access: [403, 'Your account has no access to an organization. Ask your administrator.'],
  no_factor: [403, 'Your account needs an authenticator app. Sign in with a browser to set it up.'],
  method: [403, 'You cannot sign in with a password here. Ask your administrator.'],
} as const satisfies Record<string, readonly [ContentfulStatusCode, string]>;

/** Header of each 401, which RFC 9110 requires. */
export const challenge = { 'WWW-Authenticate': 'Bearer' } as const;

export type SignInProblemCode = keyof typeof problems;

/** A sign-in that failed for a reason that the user reads. */
export class SignInProblem extends ApiError {
  constructor(
    readonly code: SignInProblemCode,
    options?: { cause: unknown },
  ) {
    const [status, message] = problems[code];
    const type = status === 401 ? 'invalid_credentials' : status === 403 ? 'forbidden' : 'sign_in_failed';
    super(status, type, message, status === 401 ? { headers: { ...challenge } } : {});
    if (options) this.cause = options.cause;
  }
}
