import ipaddr from 'ipaddr.js';

type Range = ReturnType<typeof ipaddr.parseCIDR>;

/**
 * Returns the address a request came from: the peer's, or the one that trusted proxies report in
 * `X-Forwarded-For`.
 */
export type ClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string;

/**
 * @param trusted addresses and CIDR ranges of proxies. A hop counts only if the proxy that reported
 *   it is trusted, so a client cannot forge its address.
 * @throws RangeError naming the entry that is neither an address nor a range
 */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  const ranges = trusted.map(readRange);
  const isTrusted = (address: string): boolean => {
    const parsed = parse(address);
    return parsed !== undefined && ranges.some((range) => parsed.kind() === range[0].kind() && parsed.match(range));
  };

  return (peer, forwardedFor) => {
    let address = peer ?? 'unknown';
    const hops =
      forwardedFor === undefined || ranges.length === 0 ? [] : forwardedFor.split(',').map((hop) => hop.trim());
    while (isTrusted(address)) {
      const hop = hops.pop();
      if (hop === undefined || !parse(hop)) break;
      address = hop;
    }
    return networkOf(address);
  };
}

/**
 * Returns the /64 network of an IPv6 address, or an IPv4 address as it is. A customer can use any
 * address in its /64, so the network counts as one client.
 */
function networkOf(address: string): string {
  const parsed = parse(address);
  if (!parsed) return address;
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${parsed.toNormalizedString().split(':').slice(0, 4).join(':')}::/64`;
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}

function readRange(text: string): Range {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    throw new RangeError(`"${text}" is neither an IP address nor a CIDR range.`);
  }
}
