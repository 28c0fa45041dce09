import { connect, type Socket } from 'node:net';
import type { AddressPolicy } from './addresses.js';
import { EgressError } from './error.js';
import { readHost, type Host } from './hosts.js';

/** Resolves a name to all of its addresses. Rejects or returns an empty list if there are none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

export interface Destination {
  host: string;
  port: number;
  signal: AbortSignal;
}

const MAX_ATTEMPTS = 4;
const ATTEMPT_MS = 3_000;

/**
 * Returns a function that connects to a host after checking all of its addresses:
 *
 * 1. Parse the host. An IP literal is its own address and is never looked up.
 * 2. Otherwise resolve the name, once.
 * 3. Reject if any address is closed, even if another is open: a mixed result is an attack.
 * 4. Connect to those addresses in turn; never resolve the name again.
 */
export function createDialer(policy: AddressPolicy, lookup: Lookup): (to: Destination) => Promise<Socket> {
  async function resolve(host: Host): Promise<readonly string[]> {
    if ('address' in host) return [host.address];
    const addresses = await lookup(host.name).catch((error: unknown) => {
      throw new EgressError('dns_failed', `${host.name} could not be resolved`, { cause: error });
    });
    if (addresses.length === 0) throw new EgressError('dns_failed', `${host.name} has no address`);
    return addresses;
  }

  return async ({ host: text, port, signal }) => {
    const host = readHost(text);
    if (!host) throw new EgressError('invalid_address', 'not a host name or IP address');
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new EgressError('invalid_address', `${port} is no port`);
    }
    const addresses = await resolve(host);
    const test = 'internal' in host && host.internal ? policy.opened : policy.permits;
    const blocked = addresses.find((address) => !test(address));
    if (blocked !== undefined)
      throw new EgressError('egress_refused', `${text} resolves to ${blocked}, which is blocked`);
    return openFirst(addresses.slice(0, MAX_ATTEMPTS), port, signal);
  };
}

async function openFirst(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  let failure: unknown;
  for (const [index, address] of addresses.entries()) {
    signal.throwIfAborted();
    try {
      return await open(address, port, signal, index < addresses.length - 1 ? ATTEMPT_MS : undefined);
    } catch (error) {
      failure = error;
    }
  }
  signal.throwIfAborted();
  throw new EgressError('connect_failed', `could not connect to ${addresses.join(', ')}, port ${port}`, {
    cause: failure,
  });
}

function open(address: string, port: number, signal: AbortSignal, limitMs: number | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true });
    const stop = (): void => void socket.destroy(new Error('stopped'));
    const timer = limitMs === undefined ? undefined : setTimeout(stop, limitMs);
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    signal.addEventListener('abort', stop);
    // Kept for the socket's lifetime: an error between two readers would otherwise be unhandled and
    // end the process.
    socket.on('error', (error) => {
      settle();
      reject(error);
    });
    socket.once('connect', () => {
      settle();
      resolve(socket);
    });
  });
}
