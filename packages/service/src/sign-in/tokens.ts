import { randomBytes, randomUUID } from 'node:crypto';
import { ACCESS_TTL, signedOut, type UserTokens } from '../auth/user-tokens.js';
import type { Clock } from '../clock.js';
import type { Vault } from '../secrets/vault.js';
import type { SignIn, SignIns, SignInTicket } from '../store/sign-ins.js';
import type { SignInMethod } from '../store/tables.js';
import type { User } from '../store/users.js';
import { SignInProblem } from './sign-in-problem.js';

/**
 * Milliseconds for which the previous refresh token is still accepted, because a response can be lost,
 * and two tabs can refresh at the same time. It gives the same generation then.
 */
const REUSE_GRACE_MS = 10_000;

/** Tokens of a sign-in, as clients of the public API know them. */
export interface TokenResponse {
  access_token: string;
  refresh_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  email: string;
}

/** Starts and ends sign-ins, and issues their tokens. */
export interface SignInTokens {
  /** @param endsAt when it ends at the latest; default: after the configured time */
  start(user: User, method: SignInMethod, endsAt?: Date): Promise<SignIn>;
  issue(signIn: SignIn, user: User): Promise<TokenResponse>;
  /**
   * Exchanges a refresh token for new tokens. A token that was exchanged before ends the sign-in: it was
   * stolen, from the client or by it.
   * @throws ApiError 401
   */
  refresh(token: string): Promise<TokenResponse>;
  /** Creates a ticket and returns its token, which is not stored. */
  ticket(ticket: Omit<SignInTicket, 'digest' | 'expiresAt'> & { seconds: number }): Promise<string>;
  /** Returns the digest of a token, by which its ticket or invitation is found. */
  digest(token: string): Buffer;
}

export interface SignInTokensOptions {
  signIns: SignIns;
  vault: Vault;
  userTokens: UserTokens;
  clock: Clock;
  /** Seconds until a sign-in ends. */
  ttl: number;
}

export function createSignInTokens({ signIns, vault, userTokens, clock, ttl }: SignInTokensOptions): SignInTokens {
  const secondsLeft = ({ expiresAt }: SignIn): number => Math.floor((expiresAt.getTime() - clock.now()) / 1_000);
  const digest = (token: string): Buffer => vault.digest('ticket', token);

  async function issue(signIn: SignIn, user: User): Promise<TokenResponse> {
    const left = secondsLeft(signIn);
    const expiresIn = Math.min(ACCESS_TTL, left);
    const access = await userTokens.access({ id: signIn.id, userId: user.id }, expiresIn);
    return {
      access_token: access.token,
      refresh_token: await userTokens.refresh(signIn, left),
      token_type: 'Bearer',
      expires_in: expiresIn,
      email: user.email,
    };
  }

  return {
    issue,
    digest,

    async start(user, method, endsAt) {
      const now = clock.now();
      const end = Math.min(now + ttl * 1_000, endsAt?.getTime() ?? Infinity);
      if (end <= now) throw new SignInProblem('expired');
      const started = new Date(now);
      const signIn: SignIn = {
        id: randomUUID(),
        userId: user.id,
        method,
        generation: 1,
        rotatedAt: started,
        createdAt: started,
        expiresAt: new Date(end),
      };
      await signIns.start(signIn);
      return signIn;
    },

    async refresh(token) {
      const { id, generation } = await userTokens.verifyRefresh(token);
      const loaded = await signIns.load(id);
      if (!loaded || secondsLeft(loaded.signIn) < 1) throw signedOut();
      const { signIn, user } = loaded;
      const now = clock.now();
      if (generation === signIn.generation) {
        const isRotated = await signIns.rotate(id, generation, new Date(now));
        if (isRotated) return issue({ ...signIn, generation: generation + 1 }, user);
        const later = await signIns.load(id);
        if (later?.signIn.generation === generation + 1) return issue(later.signIn, user);
        throw signedOut();
      }
      const isRepeated = generation === signIn.generation - 1 && now - signIn.rotatedAt.getTime() < REUSE_GRACE_MS;
      if (isRepeated) return issue(signIn, user);
      await signIns.end(id);
      throw signedOut();
    },

    async ticket({ seconds, ...ticket }) {
      const token = randomBytes(32).toString('base64url');
      await signIns.issue({
        ...ticket,
        digest: digest(token),
        expiresAt: new Date(clock.now() + seconds * 1_000),
      });
      return token;
    },
  };
}
