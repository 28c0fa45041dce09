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
  /** Ranges the operator opened, as CIDR: `10.1.0.0/16`. Everything private is closed otherwise. */
  allow: readonly string[];
  /** Resolves names; default: the operating system. Never called for an IP literal. */
  lookup?: Lookup;
  /** Certificate authorities to trust beside the public ones, PEM: those of services in opened ranges. */
  ca?: string | readonly string[];
  /** Milliseconds for one exchange or connection. Default 10,000. */
  timeoutMs?: number;
}

/** @throws TypeError naming the entry of `allow` that is no CIDR. */
export function createEgress({ allow, lookup = resolve, ca = [], timeoutMs = 10_000 }: EgressOptions): Egress {
  const dial = createDialer(createAddressPolicy(allow), lookup);
  const trusted = createTrust([ca].flat());
  const closing = new AbortController();
  // Every call waits on it.
  setMaxListeners(0, closing.signal);
  const sockets = new Set<Socket>();

  /** Every socket there is comes from here. */
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
      closing.abort(new EgressError('connect_failed', 'the way out was closed'));
      pool.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** What a TLS connection trusts beside the public authorities; `undefined`: nothing. */
function createTrust(shared: readonly string[]): (own: string | undefined) => SecureContext | undefined {
  const usual = shared.length === 0 ? undefined : contextOf(shared);
  return (own) => {
    if (own === undefined) return usual;
    try {
      return contextOf([...shared, own]);
    } catch (error) {
      throw new EgressError('tls_failed', 'the certificate authority is none', { cause: error });
    }
  };
}

async function resolve(name: string): Promise<string[]> {
  return (await systemLookup(name, { all: true, verbatim: true })).map(({ address }) => address);
}

const contextOf = (ca: readonly string[]): SecureContext => createSecureContext({ ca: [...rootCertificates, ...ca] });
