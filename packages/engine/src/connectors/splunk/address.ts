/** Where Splunk answers by these fields; the address may come without a scheme, and its path is not used. `undefined`: nowhere. */
export function baseOf(address: string, port: string | undefined): string | undefined {
  const written = address.includes('://') ? address : `https://${address}`;
  if (!URL.canParse(written)) return undefined;
  const url = new URL(written);
  if (port !== undefined && !/^\d{1,5}$/.test(port)) return undefined;
  if (port !== undefined) url.port = port;
  return url.origin;
}
