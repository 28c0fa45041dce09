import { SignJWT } from 'jose';
import type { Clock } from '@connector-frame/engine/connector-api';
import type { SnowflakeSignIn } from './config.js';

const TOKEN_MINUTES = 50;

/** Creates the credentials of requests. */
export class SnowflakeBearer {
  readonly #signIn: SnowflakeSignIn;
  readonly #clock: Clock;
  #token: { value: string; until: number } | undefined;

  constructor(signIn: SnowflakeSignIn, clock: Clock) {
    this.#signIn = signIn;
    this.#clock = clock;
  }

  /** Returns the headers that sign in, with a JWT that is renewed before it expires. */
  async headers(): Promise<Record<string, string>> {
    const { kind } = this.#signIn;
    return {
      accept: 'application/json',
      authorization: `Bearer ${await this.#value()}`,
      'x-snowflake-authorization-token-type': kind === 'key' ? 'KEYPAIR_JWT' : 'PROGRAMMATIC_ACCESS_TOKEN',
      // Required.
      'user-agent': 'connector-frame/1.0',
    };
  }

  async #value(): Promise<string> {
    if (this.#signIn.kind === 'token') return this.#signIn.token;
    const { issuer, subject, key } = this.#signIn;
    const now = this.#clock.now();
    if (!this.#token || this.#token.until <= now) {
      const seconds = Math.floor(now / 1_000);
      const value = await new SignJWT()
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
        .setIssuer(issuer)
        .setSubject(subject)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + TOKEN_MINUTES * 60 + 300)
        .sign(key);
      this.#token = { value, until: now + TOKEN_MINUTES * 60_000 };
    }
    return this.#token.value;
  }
}
