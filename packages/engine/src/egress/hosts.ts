import { isIP, isIPv6 } from 'node:net';

/** A host as it will be dialed: an IP literal in canonical form, or a name to resolve. */
export type Host =
  | { address: string }
  | { name: string; /** A name of the operator's own network. */ internal: boolean };

/**
 * Parses a host as the WHATWG URL standard does, so that `0x7f.1`, `0177.1`, `2130706433` and
 * full-width digits become the address they denote and never reach a resolver. Returns `undefined`
 * if the text is not a host.
 */
export function readHost(text: string): Host | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  const written = isIPv6(bare) ? `[${bare}]` : text;
  // The URL parser itself rejects every other character that could end the host.
  if (!written.startsWith('[') && /[\s:/\\@?#%]/.test(written)) return undefined;
  if (!URL.canParse(`http://${written}/`)) return undefined;
  const host = new URL(`http://${written}/`).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
  if (host === '') return undefined;
  if (isIP(host)) return { address: host };
  return { name: host, internal: /(^|\.)(localhost|local|internal)$/.test(host) };
}
