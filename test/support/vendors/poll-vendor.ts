import type { ConnectorConfig } from '@connector-frame/catalog';
import type { Reply } from '../vendor.js';

/** An event at a vendor. */
export interface VendorEvent {
  n: number;
  /** When it happened, and when it was added to the log: milliseconds of the vendor's clock. */
  at: number;
  written: number;
}

export interface VendorRequest {
  method: string;
  /** The vendor's origin, not the local server's: `https://api.github.com`. */
  origin: string;
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

/** State of a vendor's server. */
export interface VendorWorld {
  now(): number;
  /** Events in the order they were logged. */
  readonly events: readonly VendorEvent[];
  /** Maximum records in one response, whatever limit is requested. */
  readonly pageSize: number;
}

/**
 * A vendor whose API is polled, implemented as the vendor documents it. Requests that deviate from
 * the documentation get an error.
 */
export interface PollVendor {
  /** Type id in the catalog. */
  type: string;
  /** All origins of the vendor; records come from the first. */
  origins: readonly string[];
  /** Configuration with plaintext secrets that contain `canary`. */
  config: ConnectorConfig;
  /** Secrets that this vendor rejects. */
  wrong: Record<string, string>;
  /** Opens a server for one test. */
  open(world: VendorWorld): {
    respond(request: VendorRequest): Reply;
    /** Revokes all tokens. */ revoke?(): void;
  };
  /** Returns the event number of a record. */
  numberOf(record: unknown): unknown;
  /** Returns the rate limit response, and the delay it requests in milliseconds. */
  throttle(now: number): { reply: Reply; afterMs: number };
  /**
   * For vendors whose responses contain the URL of the next page: returns the response with that
   * URL on another origin.
   */
  elsewhere?(reply: Reply, origin: string): Reply;
  /** `false`: the vendor rejects clients whose clock is wrong. */
  anyClock?: boolean;
  /** Milliseconds until an event appears in the log. */
  delayMs?: number;
}

/** Returns an error response with a message for debugging the test. */
export const bad = (status: number, message: string): Reply => ({ status, body: { error: message } });

/** Returns what is wrong with a request's parameters: a missing one, or an unknown one. */
export function wrongQuery({ query }: VendorRequest, required: string[], optional: string[] = []): string | undefined {
  const missing = required.find((name) => (query.get(name) ?? '') === '');
  if (missing !== undefined) return `${missing} is missing`;
  const known = new Set([...required, ...optional]);
  const unknown = [...query.keys()].find((name) => !known.has(name));
  return unknown === undefined ? undefined : `${unknown} is unknown`;
}

export interface Slice {
  events: VendorEvent[];
  /** Token of the next page. */
  next?: string;
}

/**
 * Returns a page of the events between two times, ordered by time. The token encodes the position
 * and the initial query, and is valid only with that query. Returns `undefined` for a token of
 * another query.
 */
export function slice(
  world: VendorWorld,
  { from, to = Number.POSITIVE_INFINITY, descending = false }: { from: number; to?: number; descending?: boolean },
  limit: number,
  token: string | null,
): Slice | undefined {
  const sign = descending ? -1 : 1;
  const requested = `${from}-${to}`;
  const size = Math.min(limit, world.pageSize);
  const sorted = world.events
    .filter(({ at }) => at >= from && at <= to)
    .sort((a, b) => sign * (a.at - b.at || a.n - b.n));
  let rest = sorted;
  if (token !== null) {
    const [of, at, n] = Buffer.from(token, 'base64url').toString().split('|');
    if (of !== requested) return undefined;
    rest = sorted.filter((event) => sign * (event.at - Number(at) || event.n - Number(n)) > 0);
  }
  const events = rest.slice(0, size);
  const last = events.at(-1);
  const next =
    last && rest.length > size ? Buffer.from(`${requested}|${last.at}|${last.n}`).toString('base64url') : undefined;
  return { events, ...(next !== undefined && { next }) };
}

/** Access tokens of a vendor, each valid until revoked. */
class Tokens {
  #valid = new Set<string>();
  #count = 0;

  issue(prefix = 'canary-token-'): string {
    this.#count += 1;
    const token = `${prefix}${this.#count}`;
    this.#valid.add(token);
    return token;
  }

  has = (token: string): boolean => this.#valid.has(token);
  revoke = (): void => this.#valid.clear();
}

/** Opens a vendor that issues tokens and can revoke them. */
export const withTokens =
  (respond: (request: VendorRequest, world: VendorWorld, tokens: Tokens) => Reply): PollVendor['open'] =>
  (world) => {
    const tokens = new Tokens();
    return { revoke: tokens.revoke, respond: (request) => respond(request, world, tokens) };
  };

export const basicOf = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
