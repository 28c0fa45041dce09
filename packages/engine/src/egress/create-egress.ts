import { lookup as systemLookup } from 'node:dns/promises';
import { createSecureContext, rootCertificates } from 'node:tls';
import { createAddressPolicy } from './addresses.js';
import { withDeadline } from './deadline.js';
import { createDialer, type Lookup } from './dial.js';
import type { Egress } from './egress.js';
import { exchange } from './fetch.js';
import { readHost } from './hosts.js';
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
export function createEgress({ allow, lookup = resolve, ca, timeoutMs = 10_000 }: EgressOptions): Egress {
  const dial = createDialer(createAddressPolicy(allow), lookup);
  const context = ca === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, ...[ca].flat()] });

  return {
    fetch: (address, init = {}) =>
      withDeadline(init.timeoutMs ?? timeoutMs, init.signal, (signal) =>
        exchange(address, init, signal, async (url) => {
          const tls = url.protocol === 'https:';
          const socket = await dial({ host: url.hostname, port: Number(url.port || (tls ? 443 : 80)), signal });
          if (!tls) return socket;
          const host = readHost(url.hostname);
          const name = host && ('name' in host ? host.name : host.address);
          return secure(socket, name ?? url.hostname, signal, {
            ALPNProtocols: ['http/1.1'],
            rejectUnauthorized: init.verifyTls ?? true,
            ...(context && { secureContext: context }),
          });
        }),
      ),
    connect: ({ host, port, signal, timeoutMs: limit = timeoutMs }) =>
      withDeadline(limit, signal, (stop) => dial({ host, port, signal: stop })),
  };
}

async function resolve(name: string): Promise<string[]> {
  return (await systemLookup(name, { all: true, verbatim: true })).map(({ address }) => address);
}
