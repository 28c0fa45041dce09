import type { ConnectorConfig } from '@connector-frame/catalog';
import type { Reply } from '../vendor.js';

/** Something that happened at a vendor. */
export interface VendorEvent {
  n: number;
  /** When it happened, and when it came into the log: milliseconds of the vendor's clock. */
  at: number;
  written: number;
}

export interface VendorRequest {
  method: string;
  /** The vendor's own, whatever machine answers for it: `https://api.github.com`. */
  origin: string;
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

/** What a vendor's server knows. */
export interface VendorWorld {
  now(): number;
  /** In the order they were written. */
  readonly events: readonly VendorEvent[];
  /** Most records in one answer, however many are asked for. */
  readonly pageSize: number;
}

/** A vendor whose API is polled, as it documents it. Whoever asks differently gets an error, as there. */
export interface PollVendor {
  /** Type id in the catalog. */
  type: string;
  /** Of everything that it answers for; records come from the first. */
  origins: readonly string[];
  /** In clear, with secrets that begin with `canary` or hold it. */
  config: ConnectorConfig;
  /** Secrets that this vendor does not know. */
  wrong: Record<string, string>;
  /** A server, for one test. */
  open(world: VendorWorld): {
    respond(request: VendorRequest): Reply;
    /** Takes all tokens back. */ revoke?(): void;
  };
  /** The number of the event that a record is. */
  numberOf(record: unknown): unknown;
  /** What it says when it is asked too often, and the milliseconds it asks to wait. */
  throttle(now: number): { reply: Reply; afterMs: number };
  /** Its answers name the next page by an address: the same answer with that address at another site. */
  elsewhere?(reply: Reply, origin: string): Reply;
  /** `false`: it turns away who has the wrong time. */
  anyClock?: boolean;
  /** Milliseconds that an event takes to be in the log. */
  delayMs?: number;
}

/** An answer that refuses, and says why to who debugs the test. */
export const bad = (status: number, message: string): Reply => ({ status, body: { error: message } });

/** What is wrong with the parameters of a request: one that is missing, or one that the vendor does not know. */
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
 * A page of the events between two times, by time. The token holds the place and what was asked for at first: a vendor
 * takes it only together with that. `undefined`: it is no token of this query.
 */
export function slice(
  world: VendorWorld,
  { from, to = Number.POSITIVE_INFINITY, descending = false }: { from: number; to?: number; descending?: boolean },
  limit: number,
  token: string | null,
): Slice | undefined {
  const sign = descending ? -1 : 1;
  const asked = `${from}-${to}`;
  const size = Math.min(limit, world.pageSize);
  const sorted = world.events
    .filter(({ at }) => at >= from && at <= to)
    .sort((a, b) => sign * (a.at - b.at || a.n - b.n));
  let rest = sorted;
  if (token !== null) {
    const [of, at, n] = Buffer.from(token, 'base64url').toString().split('|');
    if (of !== asked) return undefined;
    rest = sorted.filter((event) => sign * (event.at - Number(at) || event.n - Number(n)) > 0);
  }
  const events = rest.slice(0, size);
  const last = events.at(-1);
  const next =
    last && rest.length > size ? Buffer.from(`${asked}|${last.at}|${last.n}`).toString('base64url') : undefined;
  return { events, ...(next !== undefined && { next }) };
}

/** Access tokens of a vendor, each good until it is taken back. */
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

/** Opens a vendor that gives out tokens, and takes them back when it is told to. */
export const withTokens =
  (respond: (request: VendorRequest, world: VendorWorld, tokens: Tokens) => Reply): PollVendor['open'] =>
  (world) => {
    const tokens = new Tokens();
    return { revoke: tokens.revoke, respond: (request) => respond(request, world, tokens) };
  };

export const basicOf = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
