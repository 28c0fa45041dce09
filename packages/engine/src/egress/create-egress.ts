import { lookup as systemLookup } from 'node:dns/promises';
import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { createAddressPolicy } from './addresses.js';
import { withDeadline } from './deadline.js';
import { createDialer, type Destination, type Lookup } from './dial.js';
import type { Egress } from './egress.js';
import { EgressError } from './error.js';
import { exchange } from './fetch.js';
import { readHost } from './hosts.js';
import { createPool } from './pool.js';
import { secure } from './secure.js';

export interface EgressOptions {
  /**
   * CIDR ranges the operator opened, such as `10.1.0.0/16`. Private ranges are closed otherwise.
   */
  allow: readonly string[];
  /**
   * Resolves host names. Default: the operating system's resolver. Never called for an IP literal.
   */
  lookup?: Lookup;
  /**
   * Certificate authorities (PEM) to trust in addition to the public ones, for services in opened
   * ranges.
   */
  ca?: string | readonly string[];
  /** Timeout in milliseconds for one exchange or connection. Default 10,000. */
  timeoutMs?: number;
}

/**
 * Creates outbound network access with SSRF protection.
 * @throws {TypeError} names the entry of `allow` that is not a CIDR range
 * @example
 * ```ts
 * const egress = createEgress({ allow: ['10.1.0.0/16'] });
 * const response = await egress.fetch('https://api.example.com/events');
 * ```
 */
export function createEgress({ allow, lookup = resolve, ca = [], timeoutMs = 10_000 }: EgressOptions): Egress {
  const dial = createDialer(createAddressPolicy(allow), lookup);
  const trusted = createTrust([ca].flat());
  const closing = new AbortController();
  // Every call in progress adds a listener.
  setMaxListeners(0, closing.signal);
  const sockets = new Set<Socket>();

  /** Opens every socket of this egress, so that `close` can destroy them all. */
  async function open(to: Destination): Promise<Socket> {
    const socket = await dial(to);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  }
  const pool = createPool(async ({ url, verifyTls, ca: own }, signal) => {
    const tls = url.protocol === 'https:';
    const socket = await open({ host: url.hostname, port: Number(url.port || (tls ? 443 : 80)), signal });
    if (!tls) return socket;
    const host = readHost(url.hostname);
    const name = host && ('name' in host ? host.name : host.address);
    const secureContext = trusted(own);
    return secure(socket, name ?? url.hostname, signal, {
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: verifyTls,
      ...(secureContext && { secureContext }),
    });
  });

  return {
    fetch: (address, init = {}) => {
      const { signal: caller, timeoutMs: limit = timeoutMs } = init;
      return withDeadline(limit, [caller, closing.signal], (signal) =>
        exchange(address, init, { signal, silenceMs: limit, caller }, pool),
      );
    },
    connect: ({ host, port, signal, timeoutMs: limit = timeoutMs }) =>
      withDeadline(limit, [signal, closing.signal], (stop) => open({ host, port, signal: stop })),
    close() {
      closing.abort(new EgressError('connect_failed', 'egress is closed'));
      pool.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Returns a function that creates the TLS context of a connection, or `undefined` if only the
 * public authorities are trusted.
 */
function createTrust(shared: readonly string[]): (own: string | undefined) => SecureContext | undefined {
  const usual = shared.length === 0 ? undefined : contextOf(shared);
  return (own) => {
    if (own === undefined) return usual;
    try {
      return contextOf([...shared, own]);
    } catch (error) {
      throw new EgressError('tls_failed', 'the CA certificate is not valid', { cause: error });
    }
  };
}

async function resolve(name: string): Promise<string[]> {
  return (await systemLookup(name, { all: true, verbatim: true })).map(({ address }) => address);
}

const contextOf = (ca: readonly string[]): SecureContext => createSecureContext({ ca: [...rootCertificates, ...ca] });
