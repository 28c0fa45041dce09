/**
 * Returns Splunk's origin from an address and a port, or `undefined` if they are not valid. The
 * address may lack a scheme; its path is ignored.
 */
export function baseOf(address: string, port: string | undefined): string | undefined {
  const written = address.includes('://') ? address : `https://${address}`;
  if (!URL.canParse(written)) return undefined;
  const url = new URL(written);
  if (port !== undefined && !/^\d{1,5}$/.test(port)) return undefined;
  if (port !== undefined) url.port = port;
  return url.origin;
}
