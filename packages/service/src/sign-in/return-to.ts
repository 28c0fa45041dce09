import { invalidRequest } from '../api-error.js';

/** The page that a user returns to after the sign-in, with what proves that it started it (RFC 7636). */
export interface ReturnTo {
  url: string;
  /** `code_challenge` with the method S256. */
  challenge: string;
  /** Returned to the page unchanged. */
  state?: string;
}

export interface ReturnToQuery {
  return_to?: string | undefined;
  code_challenge?: string | undefined;
  state?: string | undefined;
}

/**
 * Reads where a sign-in returns to. Only pages of the operator's consoles are accepted, compared by
 * their whole origin, so that the service is no open redirect.
 * @throws ApiError 400
 */
export function readReturnTo(query: ReturnToQuery, consoleOrigins: ReadonlySet<string>): ReturnTo | undefined {
  const { return_to: text, code_challenge: challenge, state } = query;
  if (text === undefined) {
    if (challenge === undefined && state === undefined) return undefined;
    throw invalidRequest('code_challenge and state need a return_to.');
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // A page's URL as text may hide another host: `https://console.example@evil.example`.
  if (!url || !consoleOrigins.has(url.origin) || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw invalidRequest('return_to must be a page of an origin in CONSOLE_ORIGINS, without user and fragment.');
  }
  if (challenge === undefined || !/^[\w-]{43}$/.test(challenge)) {
    throw invalidRequest('return_to needs a code_challenge: the SHA-256 of a random code_verifier, as base64url.');
  }
  return { url: url.href, challenge, ...(state !== undefined && { state }) };
}

/** Returns the address of the page with the code that it exchanges for tokens. */
export function returnAddress({ url, state }: ReturnTo, code: string): string {
  const address = new URL(url);
  address.searchParams.set('code', code);
  if (state !== undefined) address.searchParams.set('state', state);
  return address.href;
}
