import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/**
 * Ranges that are closed unless the operator opens them: private, local, special-purpose and
 * documentation ranges (IANA registries).
 */
const closed: readonly Range[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's platform service: a public address that every virtual machine reaches
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  '::ffff:0:0:0/96', // IPv4-translated (SIIT, RFC 7915)
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23', // protocol assignments, Teredo among them
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
].map((cidr) => ipaddr.parseCIDR(cidr));

/**
 * IPv6 ranges that embed an IPv4 address. The traffic finally reaches that address, so it must be
 * allowed as well.
 */
const carriers: readonly { range: Range; inner(bytes: readonly number[]): number[] }[] = [
  { range: ipaddr.parseCIDR('::/96'), inner: (bytes) => bytes.slice(12) },
  { range: ipaddr.parseCIDR('::ffff:0:0/96'), inner: (bytes) => bytes.slice(12) },
  { range: ipaddr.parseCIDR('::ffff:0:0:0/96'), inner: (bytes) => bytes.slice(12) },
  { range: ipaddr.parseCIDR('64:ff9b::/96'), inner: (bytes) => bytes.slice(12) },
  { range: ipaddr.parseCIDR('2002::/16'), inner: (bytes) => bytes.slice(2, 6) },
  // Teredo: the client's address with its bits inverted.
  { range: ipaddr.parseCIDR('2001::/32'), inner: (bytes) => bytes.slice(12).map((byte) => byte ^ 0xff) },
];

/** Decides which addresses may be dialed. */
export interface AddressPolicy {
  /**
   * Whether the address is public or in a range opened by the operator. False if it is not an IP
   * address.
   */
  permits: (address: string) => boolean;
  /** Whether the address is permitted and in a range the operator opened explicitly. */
  opened: (address: string) => boolean;
}

/**
 * Creates a policy from the CIDR ranges that the operator opened.
 * @throws {TypeError} names the entry of `allow` that is not a CIDR range
 */
export function createAddressPolicy(allow: readonly string[]): AddressPolicy {
  const open = allow.map(readCidr);

  function permits(address: Address): boolean {
    if (!within(address, open) && within(address, closed)) return false;
    const inner = carried(address);
    return inner === undefined || permits(inner);
  }

  return {
    permits: (text) => parsed(text, permits),
    opened: (text) => parsed(text, (address) => permits(address) && within(carried(address) ?? address, open)),
  };
}

function readCidr(cidr: string): Range {
  if (!ipaddr.isValidCIDR(cidr)) {
    throw new TypeError(
      `"${cidr}" is no CIDR range. Write it as 10.1.0.0/16, one address as 10.1.2.3/32 or fd00::1/128.`,
    );
  }
  return ipaddr.parseCIDR(cidr);
}

function parsed(text: string, test: (address: Address) => boolean): boolean {
  // `net` would resolve anything that is not an IP address as a name; a zone ID names a local
  // interface.
  return isIP(text) !== 0 && !text.includes('%') && test(ipaddr.parse(text));
}

function within(address: Address, ranges: readonly Range[]): boolean {
  return ranges.some((range) => address.kind() === range[0].kind() && address.match(range));
}

function carried(address: Address): ipaddr.IPv4 | undefined {
  if (!(address instanceof ipaddr.IPv6) || ['::', '::1'].includes(address.toString())) return undefined;
  const carrier = carriers.find(({ range }) => address.match(range));
  return carrier && new ipaddr.IPv4(carrier.inner(address.toByteArray()));
}
