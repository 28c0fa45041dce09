import type { ConnectorConfig } from '@connector-frame/catalog/types';
import type { Subject } from '../connection-test/failures.js';
import { missing } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';

/** A request before it is sent. */
export interface Outgoing {
  method: string;
  url: URL;
  headers: Headers;
  /** Encoded body. Absent: none. */
  body?: string;
}

/** Adds credentials to requests. */
export interface Authentication {
  sign(request: Outgoing, signal: AbortSignal): Promise<void>;
  /** Discards a token that the vendor no longer accepts; `false` if there is none. */
  renew(): boolean;
}

export interface Credentials {
  config: ConnectorConfig;
  subject: Subject;
  /** For methods that exchange their secret for a token. */
  requester: TokenRequester;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** A request to a token endpoint. */
export interface Grant {
  url: URL;
  headers: Headers;
  body: string;
}

export interface Token {
  value: string;
  /** Lifetime in seconds. */
  lifetime: number;
}

/** Exchanges a grant for a token. @throws PollError */
export type TokenRequester = (grant: Grant, signal: AbortSignal) => Promise<Token>;

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** Sets a header. The error of `Headers` quotes an invalid value, so it must not be passed on. */
export function setHeader(headers: Headers, name: string, value: string, path: string): void {
  try {
    headers.set(name, value);
  } catch {
    const outcome = missing(path, 'This contains a character that cannot be sent, such as a line break.');
    throw new PollError(outcome, 'permanent');
  }
}
