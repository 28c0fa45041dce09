import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Parses an IP address. An IPv4 address in IPv6 form becomes IPv4. Zones are not accepted. */
export function readIp(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const trimmed = text.trim();
  // `ipaddr.js` also reads 127.1 and 0x7f000001.
  return isIP(trimmed) === 0 || trimmed.includes('%') ? undefined : ipaddr.process(trimmed);
}
