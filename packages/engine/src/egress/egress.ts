/**
 * Network access of connectors. All connections go through it, so that none reaches a private
 * address.
 */
import type { Socket } from 'node:net';

/** The supported part of `RequestInit`, and options that `fetch` does not have. */
export interface EgressInit {
  /** Default `GET`. */
  method?: string;
  headers?: RequestInit['headers'];
  body?: string | Uint8Array;
  signal?: AbortSignal;
  /**
   * Timeout in milliseconds for the whole exchange: DNS, connections, redirects and body. With
   * `stream`, it covers everything before the body, and then each pause between two chunks.
   * Default: the timeout of the egress.
   */
  timeoutMs?: number;
  /**
   * `false` accepts any certificate, for connectors whose configuration says so. Default `true`.
   */
  verifyTls?: boolean;
  /** Certificate authorities (PEM) to trust in addition to those of the egress. */
  ca?: string;
  /** Maximum size of the response body in bytes. Default 65,536; unlimited with `stream`. */
  maxBytes?: number;
  /**
   * What to do with a longer body: `reject` (default) fails with `too_large`, `truncate` cuts it off.
   */
  overflow?: 'reject' | 'truncate';
  /** Resolve as soon as the status is known, with an empty body. Default `false`. */
  discardBody?: boolean;
  /** `manual` returns a redirect like any other response. Default `follow`: within the origin. */
  redirect?: 'follow' | 'manual';
  /**
   * Resolve as soon as the status is known; the body is read on demand and fails with
   * `EgressError`. Read it to its end or cancel it: it occupies a connection until then.
   */
  stream?: boolean;
  /**
   * The request is idempotent although its method does not guarantee that. It may then use an idle
   * connection, and is sent once more if that connection turns out to be closed. Default: by
   * method.
   */
  repeatable?: boolean;
}

export interface EgressTarget {
  /** A host name or IP literal, IPv6 with or without brackets; no scheme, no port. */
  host: string;
  port: number;
  signal?: AbortSignal;
  /** Connect timeout in milliseconds. Default: the timeout of the egress. */
  timeoutMs?: number;
}

/**
 * Outbound network access with SSRF protection. Every address that a host resolves to is classified
 * before a byte is sent, for every redirect, and the socket connects to exactly the address that
 * was classified.
 *
 * Both calls reject with `EgressError`, or with the reason of the given `signal`.
 */
export interface Egress {
  /**
   * Performs one HTTP or HTTPS exchange. Follows at most three redirects within the origin; a
   * redirect to another origin fails with `redirected`, so that credentials never leave the origin.
   * The response body is fully read when this resolves (see `stream`).
   *
   * Connections are kept open for four seconds and reused for the same origin and TLS settings. No
   * request state is carried over.
   */
  fetch(url: string | URL, init?: EgressInit): Promise<Response>;
  /**
   * Opens a TCP socket; the caller closes it. The caller also performs the TLS handshake, if any,
   * for the host name it passed.
   */
  connect(target: EgressTarget): Promise<Socket>;
  /**
   * Closes every connection, including those in use and those handed out by `connect`. Later calls
   * fail with `connect_failed`. Idempotent.
   */
  close?(): void;
}
