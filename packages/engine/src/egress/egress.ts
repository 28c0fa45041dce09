/** What a connector may do on the network: everything goes through here, so that nothing reaches a private address. */
import type { Socket } from 'node:net';

/** The part of `RequestInit` that makes sense here, and what `fetch` has no word for. */
export interface EgressInit {
  /** Default `GET`. */
  method?: string;
  headers?: RequestInit['headers'];
  body?: string | Uint8Array;
  signal?: AbortSignal;
  /**
   * Milliseconds for the whole exchange: names, connections, redirects and body. With `stream` for all before the body,
   * and then for the silence between two parts of it. Default: the egress's own.
   */
  timeoutMs?: number;
  /** `false` accepts any certificate, because the person who configured the connector said so. Default `true`. */
  verifyTls?: boolean;
  /** Certificate authorities to trust beside the egress's own, PEM. */
  ca?: string;
  /** Bytes of the answer's body. Default 65,536; with `stream` there is no bound unless it is given. */
  maxBytes?: number;
  /** What becomes of a longer body: `refuse`, the default, is `too_large`; `cut` answers its beginning. */
  longer?: 'refuse' | 'cut';
  /** Answer as soon as the status is known, with an empty body. Default `false`. */
  discardBody?: boolean;
  /**
   * Answer as soon as the status is known; the body comes as it is read, and fails with `EgressError`. Read it to its
   * end or cancel it: it holds a connection until then.
   */
  stream?: boolean;
  /**
   * The request may reach the other side twice without harm, though its method does not promise so. It may then go over
   * a connection that was used before, and is sent once more when that turns out to be gone. Default: by the method.
   */
  repeatable?: boolean;
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
   *
   * Connections are kept for four seconds and used again, by origin and by what is trusted there. Nothing of a request
   * stays on them.
   */
  fetch(url: string | URL, init?: EgressInit): Promise<Response>;
  /** A connected TCP socket; the caller ends it. TLS, if any, is the caller's, under the name it was given. */
  connect(target: EgressTarget): Promise<Socket>;
  /** Ends every connection, also those under way and those handed out; later calls are `connect_failed`. Twice is fine. */
  close?(): void;
}
