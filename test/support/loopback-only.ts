import { BlockList, isIP, Socket } from 'node:net';

/** Connections that `keepToLoopback` blocked. */
export interface Leash {
  /** Hosts of the blocked connections. */
  readonly heldBack: readonly string[];
  /** Ends the restriction. */
  release(): void;
}

/**
 * Restricts the sockets of this process to loopback, so that a test that attacks the egress guard
 * never connects to another machine, even if the guard is broken. Other connections fail with
 * `ENETUNREACH`.
 */
export function keepToLoopback(): Leash {
  const heldBack: string[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- put back as it was, and called with `this`
  const original = Socket.prototype.connect;
  Socket.prototype.connect = function connect(this: Socket, ...args: unknown[]): Socket {
    const host = hostOf(args);
    if (host === undefined || isLoopback(host)) return Reflect.apply(original, this, args);
    heldBack.push(host);
    process.nextTick(() => this.destroy(Object.assign(new Error(`${host} is not loopback`), { code: 'ENETUNREACH' })));
    return this;
  };
  return {
    heldBack,
    release() {
      Socket.prototype.connect = original;
    },
  };
}

/**
 * Returns the host of a connection; `undefined` for a path (a Unix socket). Node passes
 * `[options, callback]` from `net.connect`.
 */
function hostOf(args: readonly unknown[]): string | undefined {
  const [first, second] = args;
  const options: unknown = Array.isArray(first) ? first[0] : first;
  if (typeof options === 'object' && options !== null) {
    if ('path' in options && typeof options.path === 'string') return undefined;
    return 'host' in options && typeof options.host === 'string' ? options.host : 'localhost';
  }
  if (typeof options === 'string' && !/^\d+$/.test(options)) return undefined;
  return typeof second === 'string' ? second : 'localhost';
}

// Deliberately not the library that the guard classifies addresses with. A connection to a wildcard
// address reaches this machine.
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('0.0.0.0');
loopback.addAddress('::1', 'ipv6');
loopback.addAddress('::', 'ipv6');

function isLoopback(host: string): boolean {
  const family = isIP(host);
  return host === 'localhost' || (family !== 0 && loopback.check(host, family === 6 ? 'ipv6' : 'ipv4'));
}
