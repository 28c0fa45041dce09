/** What a tester may do on the network: everything goes through here, so that nothing reaches a private address. */
import type { Socket } from 'node:net';

/** The part of `RequestInit` that makes sense here, and what `fetch` has no word for. */
export interface EgressInit {
  /** Default `GET`. */
  method?: string;
  headers?: RequestInit['headers'];
  body?: string | Uint8Array;
  signal?: AbortSignal;
  /** Milliseconds for the whole exchange: names, connections, redirects and body. Default: the egress's own. */
  timeoutMs?: number;
  /** `false` accepts any certificate, because the person who configured the connector said so. Default `true`. */
  verifyTls?: boolean;
  /** Answer as soon as the status is known, with an empty body. Default `false`: at most 64 KiB, else `too_large`. */
  discardBody?: boolean;
}

export interface EgressTarget {
  /** A name or an IP literal, IPv6 with or without brackets; no scheme, no port. */
  host: string;
  port: number;
  signal?: AbortSignal;
  /** Milliseconds until the socket is connected. Default: the egress's own. */
  timeoutMs?: number;
}

/**
 * A guarded way out. Every address a host resolves to is classified before a byte is sent, on every hop, and the
 * socket is dialled to the very address that was classified.
 *
 * Both calls reject with `EgressError`, or with the reason of the given `signal`.
 */
export interface Egress {
  /**
   * One HTTP exchange over http or https. Redirects within the origin are followed (three at most); one to another
   * origin is `redirected`, so that a credential is never carried there. The answer's body is read when this resolves.
   */
  fetch(url: string | URL, init?: EgressInit): Promise<Response>;
  /** A connected TCP socket; the caller ends it. TLS, if any, is the caller's, under the name it was given. */
  connect(target: EgressTarget): Promise<Socket>;
}
