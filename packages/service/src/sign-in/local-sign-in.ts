import { ApiError } from '../api-error.js';
import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import type { FeatureFlags } from '../features/feature-flags.js';
import type { RateLimits } from '../http/rate-limits.js';
import type { Vault } from '../secrets/vault.js';
import type { LocalCredentials, User, Users } from '../store/users.js';
import { readEmail } from './email.js';
import type { Passwords } from './passwords.js';
import { isTotpCode, type SecondFactor } from './second-factor.js';
import { challenge, SignInProblem } from './sign-in-problem.js';

/** Verifies passwords and codes of local accounts. */
export interface LocalSignIn {
  /**
   * Verifies a password. Each attempt counts against the account and the client address, also for
   * addresses without an account, which get the same response in the same time.
   * @param address of the client
   * @throws SignInProblem `credentials`
   * @throws ApiError 429 with `Retry-After`
   */
  password(email: string, password: string, address: string): Promise<{ user: User; needsCode: boolean }>;
  /**
   * Verifies a code of the authenticator app, or a recovery code. Each is accepted once.
   * @throws SignInProblem `code`
   * @throws ApiError 429 with `Retry-After`
   */
  code(userId: string, code: string, address: string): Promise<User>;
  /** Forgets failed attempts. Call it when the sign-in is complete. */
  succeeded(user: User): Promise<void>;
}

export interface LocalSignInOptions {
  users: Users;
  passwords: Passwords;
  secondFactor: SecondFactor;
  flags: FeatureFlags;
  limits: RateLimits;
  vault: Vault;
  clock: Clock;
  log: Logger;
}

export function createLocalSignIn(options: LocalSignInOptions): LocalSignIn {
  const { users, passwords, secondFactor, flags, limits, vault, clock, log } = options;

  // The table of the limits must contain no address.
  const accountOf = (email: string): string => vault.digest('account', email).toString('base64url');

  async function count(email: string, address: string): Promise<void> {
    await limits.consume({ sign_in_address: address });
    await limits.consume({ sign_in: accountOf(email) });
  }

  async function accountWith(
    email: string | undefined,
  ): Promise<{ user: User; credentials: LocalCredentials } | undefined> {
    const user = email === undefined ? undefined : await users.byEmail(email, null);
    const credentials = user && (await users.credentials(user.id));
    if (!credentials || !(await flags.isOn('local_sign_in', { userId: user.id }))) return undefined;
    return { user, credentials };
  }

  /** Logs a failed attempt without the address, which may be a mistyped password. */
  function failed(reason: 'credentials' | 'code', user: User | undefined): SignInProblem {
    log.info({ reason, ...(user && { user_id: user.id }) }, 'sign-in failed');
    return new SignInProblem(reason);
  }

  /** Replaces a hash whose cost is not the present one. */
  async function rehash(credentials: LocalCredentials, password: string): Promise<void> {
    if (!passwords.isOutdated(credentials.password)) return;
    const hashed = await passwords.hash(password);
    await users.setCredentials({ ...credentials, password: hashed, updatedAt: new Date(clock.now()) });
  }

  async function isRightCode(user: User, { totp }: LocalCredentials, code: string): Promise<boolean> {
    if (totp === null) return false;
    if (!isTotpCode(code)) return users.redeemRecoveryCode(user.id, secondFactor.recoveryDigest(user.id, code));
    const step = secondFactor.stepOf(secondFactor.open(user.id, totp), code);
    return step !== undefined && users.acceptStep(user.id, step);
  }

  return {
    async password(text, password, address) {
      const email = readEmail(text);
      await count(email ?? text, address);
      const account = await accountWith(email);
      const isRight = await passwords.verify(password, account?.credentials.password);
      if (!account || !isRight) throw failed('credentials', account?.user);
      await rehash(account.credentials, password);
      return { user: account.user, needsCode: account.credentials.totp !== null };
    },

    async code(userId, code, address) {
      const user = await users.get(userId);
      if (!user) throw new SignInProblem('code');
      await count(user.email, address);
      const account = await accountWith(user.email);
      if (!account || !(await isRightCode(account.user, account.credentials, code.trim()))) {
        throw failed('code', user);
      }
      return account.user;
    },

    succeeded: ({ email }) => limits.reset('sign_in', accountOf(email)),
  };
}

/** Creates the error for a client that has to send a code as well. */
export const otpRequired = (): ApiError =>
  new ApiError(401, 'otp_required', 'Send the code of the authenticator app, or a recovery code, as otp.', {
    headers: { ...challenge },
  });
