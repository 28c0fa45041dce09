import { isIP, isIPv6 } from 'node:net';

/** A host as it will be dialled: an IP literal in canonical form, or a name to resolve. */
export type Host =
  { address: string } | { name: string; /** A name of the operator's own network. */ internal: boolean };

/**
 * Reads a host the way the WHATWG URL standard does, so that `0x7f.1`, `0177.1`, `2130706433` and full-width digits
 * are the address they stand for and never reach a resolver. `undefined` when it is no host.
 */
export function readHost(text: string): Host | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  const written = isIPv6(bare) ? `[${bare}]` : text;
  // Beside these, every character that could end the host in a URL is refused by its own parser.
  if (!written.startsWith('[') && /[\s:/\\@?#%]/.test(written)) return undefined;
  if (!URL.canParse(`http://${written}/`)) return undefined;
  const host = new URL(`http://${written}/`).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
  if (host === '') return undefined;
  if (isIP(host)) return { address: host };
  return { name: host, internal: /(^|\.)(localhost|local|internal)$/.test(host) };
}
