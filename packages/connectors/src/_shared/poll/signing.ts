import type { ConnectorConfig } from '@connector-frame/catalog/types';
import type { AwsRoles, Egress, ReplaceableSecrets } from '@connector-frame/engine/connector-api';
import type { Subject } from '../connection-test/failures.js';
import { missing } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';

/** A request before it is sent. */
export interface Outgoing {
  method: string;
  url: URL;
  headers: Headers;
  /** Role at AWS that signs it; empty if the configuration names none. */
  role?: string;
  /** Encoded body. Absent: none. */
  body?: string | Uint8Array;
}

/** Adds credentials to requests. */
export interface Authentication {
  /** May replace the URL. */
  sign(request: Outgoing, signal: AbortSignal): Promise<void>;
  /**
   * Discards credentials that the vendor no longer accepts, or takes its challenge. Returns whether the
   * request should be sent again.
   */
  renew(response: { status: number; headers: Headers }): boolean;
  /** Returns where requests are sent instead of `base_url`, if the vendor has named another host. */
  host?(): URL | undefined;
}

export interface Credentials {
  config: ConnectorConfig;
  subject: Subject;
  /** The URL that requests are built from. */
  base: URL;
  /** For requests to other hosts than those of the vendor's token endpoints. */
  egress: Egress;
  /** The service's own identity at AWS. Absent: it has none. */
  roles?: AwsRoles | undefined;
  /** For methods that exchange their secret for a token. */
  requester: GrantRequester;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** The time that signatures contain: the vendor's, if it is known. */
  vendorNow: () => number;
  /** Notes that the vendor refused the credentials, in a response that says so by what it lacks. */
  refused: () => PollError;
  /** The stored secrets, for vendors that replace them. Absent: nothing is stored. */
  secrets?: ReplaceableSecrets | undefined;
  /** Whether this is the test of a connection. */
  isTest?: boolean | undefined;
}

/** A request that exchanges credentials for a token. */
export interface Grant {
  /** Default `POST`. */
  method?: string;
  url: URL;
  headers: Headers;
  body?: string;
  /** `manual`: a redirect is a successful response, so that its cookies are not lost. */
  redirect?: 'manual';
}

/** A successful response to a grant. */
export interface GrantResponse {
  headers: Headers;
  text: string;
  /** Parsed JSON; `undefined` if it is not JSON. */
  body: unknown;
  /** The vendor's time, in milliseconds since the epoch. */
  at: number;
}

/** Sends a grant. @throws PollError for any other response than a successful one */
export type GrantRequester = (grant: Grant, signal: AbortSignal) => Promise<GrantResponse>;

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
