import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { Vault } from '../secrets/vault.js';
import { SignInProblem } from './sign-in-problem.js';
import type { ReturnTo } from './return-to.js';

/** Seconds for which a browser may take to sign in. */
const FLOW_TTL = 1_800;

/** What an account is being given: a password, a second factor, or both. */
export interface AccountSetup {
  purpose: 'invitation' | 'mfa' | 'reset';
  /** Absent for a new account. */
  userId?: string;
  email: string;
  username: string;
  /** Digest of the ticket that allows it, as base64url; absent for an invitation. */
  ticket?: string;
  passwordHash?: string;
  /** Secret of the authenticator app, in base32. */
  totp?: string;
}

/**
 * The state of one sign-in. It is kept encrypted in a cookie of the browser that started it, so that
 * the sign-in can't be completed in another browser, and anonymous requests store nothing in the
 * database.
 */
export interface Flow {
  /** Sent back by each form of the sign-in. */
  csrf: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  returnTo?: ReturnTo;
  email?: string;
  invitationId?: string;
  oidc?: { state: string; nonce: string; verifier: string };
  saml?: { connectionId: string; requestId: string };
  /** The user whose password was right, and who has yet to send a code. */
  passwordOf?: string;
  setup?: AccountSetup;
  /** A link in a mail that was opened: its purpose, and the digest of its token as base64url. */
  link?: { purpose: 'verify'; ticket: string };
}

export interface Flows {
  /** Returns a new flow. */
  begin(values?: Partial<Omit<Flow, 'csrf' | 'expiresAt'>>): Flow;
  /** Returns the flow in the cookies of a request, if there is one that has not expired. */
  read(cookies: string | undefined): Flow | undefined;
  /**
   * Returns the flow of a request.
   * @throws SignInProblem `expired`
   */
  require(cookies: string | undefined): Flow;
  /** Requires that a form was sent by a page of this flow. @throws SignInProblem `expired` */
  requireForm(flow: Flow, csrf: string): void;
  /** Returns the `Set-Cookie` header that stores a flow. */
  cookie(flow: Flow): string;
  /** Returns the `Set-Cookie` header that removes it. */
  readonly cleared: string;
}

/** @param secure whether browsers reach the service over https */
export function createFlows(vault: Vault, clock: Clock, secure: boolean): Flows {
  // The prefix keeps other hosts of the domain, and pages over http, from setting the cookie.
  const name = secure ? '__Host-sign-in' : 'sign-in';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;

  function read(cookies: string | undefined): Flow | undefined {
    const values = (cookies ?? '').split(';').map((part) => part.trim());
    const sealed = values.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
    if (sealed === undefined) return undefined;
    try {
      const flow: Flow = JSON.parse(vault.openOwn(['sign-in'], Buffer.from(sealed, 'base64url')));
      return flow.expiresAt > clock.now() ? flow : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    read,

    begin: (values) => ({
      ...values,
      csrf: randomBytes(16).toString('base64url'),
      expiresAt: clock.now() + FLOW_TTL * 1_000,
    }),

    require(cookies) {
      const flow = read(cookies);
      if (!flow) throw new SignInProblem('expired');
      return flow;
    },

    requireForm(flow, csrf) {
      const [expected, given] = [Buffer.from(flow.csrf), Buffer.from(csrf)];
      if (expected.length !== given.length || !timingSafeEqual(expected, given)) throw new SignInProblem('expired');
    },

    cookie(flow) {
      const seconds = Math.max(1, Math.floor((flow.expiresAt - clock.now()) / 1_000));
      const value = vault.sealOwn(['sign-in'], JSON.stringify(flow)).toString('base64url');
      return `${name}=${value}; ${attributes}; Max-Age=${seconds}`;
    },

    cleared: `${name}=; ${attributes}; Max-Age=0`,
  };
}
