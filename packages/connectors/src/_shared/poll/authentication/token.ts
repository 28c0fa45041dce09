import type { PollTokenHost, PollTokenUse } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { unexpected, type Subject } from '../../connection-test/failures.js';
import { failed } from '../../connection-test/outcome.js';
import { PollError } from '../poll-error.js';
import { addFields } from './credentials.js';
import { setHeader, type Authentication, type Credentials, type GrantResponse } from '../signing.js';

/** A token, and how long it is used. */
export interface Token {
  value: string;
  /** Milliseconds since the epoch. */
  until: number;
  /** Host of further requests: `https://` and a name, perhaps with a path. */
  host?: string;
}

/** @param rejected the token that the vendor no longer accepts, if any */
export type ObtainToken = (signal: AbortSignal, rejected: string | undefined) => Promise<Token>;

/** A token is renewed this many milliseconds before it expires. */
const MARGIN_MS = 60_000;
const DEFAULT_LIFETIME_S = 300;

/** Returns when a token is renewed that expires in this many seconds. */
export const renewalTime = (now: number, lifetime: number): number =>
  now + Math.max(lifetime * 1_000 - MARGIN_MS, (lifetime * 1_000) / 2);

/**
 * Authenticates with a token in a header. Obtains one when needed and caches it until shortly before it
 * expires.
 */
export function tokenAuthentication(
  obtain: ObtainToken,
  { header = 'authorization', prefix = 'Bearer ', also }: Pick<PollTokenUse, 'header' | 'prefix' | 'also'>,
  { config, now, subject, base }: Credentials,
): Authentication {
  let kept: Token | undefined;
  let rejected: string | undefined;
  return {
    async sign(request, signal) {
      if (!kept || kept.until <= now()) kept = await obtain(signal, rejected);
      rejected = undefined;
      setHeader(request.headers, header, prefix + kept.value, subject.credential ?? '');
      addFields(also ?? {}, request, config);
      if (kept.host !== undefined) request.url = movedTo(new URL(kept.host), request.url, base);
    },
    renew({ status }) {
      if (status !== 401 || kept === undefined) return false;
      rejected = kept.value;
      kept = undefined;
      return true;
    },
    host: () => (kept?.host === undefined ? undefined : new URL(kept.host)),
  };
}

/** Returns the URL on another host. A link of that host stays as it is. */
export function movedTo(host: URL, url: URL, base: URL): URL {
  if (url.origin !== base.origin || host.origin === base.origin) return url;
  return new URL(host.origin + host.pathname.replace(/\/$/, '') + url.pathname + url.search);
}

/** Takes the token from the response of a token endpoint. @throws PollError */
export function tokenIn(response: GrantResponse, use: PollTokenUse, credentials: Credentials): Token {
  const { subject, now, refused } = credentials;
  const { body } = response;
  const value: unknown = getAt(body, use.token ?? '/access_token');
  if (typeof value !== 'string' || value === '') throw hasNone(response, refused, subject);
  const lifetime = Number(getAt(body, use.expires ?? '/expires_in') ?? use.lifetime_seconds);
  const host = use.host && hostIn(body, use.host, subject);
  return {
    value,
    until: renewalTime(now(), lifetime > 0 ? lifetime : (use.lifetime_seconds ?? DEFAULT_LIFETIME_S)),
    ...(host !== undefined && { host }),
  };
}

/**
 * Creates the error for a successful response without what it should contain. Some vendors refuse
 * credentials in this way; a response that is no JSON comes from something else, such as a proxy.
 */
export const hasNone = ({ body }: GrantResponse, refused: Credentials['refused'], subject: Subject): PollError =>
  body === undefined ? new PollError(unexpected(subject), 'retry') : refused();

/** @throws PollError `unexpected_answer` if the response names no host of the vendor */
export function hostIn(body: unknown, { path, suffixes }: PollTokenHost, subject: Subject): string {
  const value: unknown = getAt(body, path);
  const text = typeof value === 'string' ? (value.includes('://') ? value : `https://${value}`) : '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOwn =
    url?.protocol === 'https:' &&
    url.username === '' &&
    url.password === '' &&
    url.port === '' &&
    suffixes.some((suffix) => url.hostname.endsWith(suffix));
  if (url && isOwn) return url.origin + url.pathname;
  const message = `${subject.product} named a host that is not one of its own. The token was not sent there.`;
  throw new PollError(failed('unexpected_answer', message), 'permanent');
}
