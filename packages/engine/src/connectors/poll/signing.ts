import type { ConnectorConfig } from '@connector-frame/catalog/types';
import type { Subject } from '../connection-test/failures.js';
import { missing } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';

/** A request before it is sent. */
export interface Outgoing {
  method: string;
  url: URL;
  headers: Headers;
}

/** Puts what proves who we are on requests. */
export interface Authentication {
  sign(request: Outgoing, signal: AbortSignal): Promise<void>;
  /** Forgets a token that is not taken any more; `false`: there is none to forget. */
  renew(): boolean;
}

export interface Credentials {
  config: ConnectorConfig;
  subject: Subject;
  /** For the kinds that trade their secret for a token. */
  requester: TokenRequester;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** What a token's address is asked. */
export interface Grant {
  url: URL;
  headers: Headers;
  body: string;
}

export interface Token {
  value: string;
  /** Seconds it lives. */
  lifetime: number;
}

/** Trades a grant for a token. @throws PollError */
export type TokenRequester = (grant: Grant, signal: AbortSignal) => Promise<Token>;

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** `Headers` quotes a value that it can't carry in its error: that one must not come out. */
export function put(headers: Headers, name: string, value: string, path: string): void {
  try {
    headers.set(name, value);
  } catch {
    const outcome = missing(path, 'This holds a character that can not be sent, such as a line break.');
    throw new PollError(outcome, 'permanent');
  }
}
