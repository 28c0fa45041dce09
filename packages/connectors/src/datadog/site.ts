/** Domains of the Datadog sites. https://docs.datadoghq.com/getting_started/site/ */
const sites = [
  'us3.datadoghq.com',
  'us5.datadoghq.com',
  'ap1.datadoghq.com',
  'ap2.datadoghq.com',
  'datadoghq.com',
  'datadoghq.eu',
  'ddog-gov.com',
];

/**
 * Returns the site that a host belongs to, or `undefined`. Example:
 * `https://http-intake.logs.us3.datadoghq.com/api/v2/logs` belongs to `us3.datadoghq.com`.
 */
export function siteOf(address: string): string | undefined {
  const written = address.includes('://') ? address : `https://${address}`;
  if (!URL.canParse(written)) return undefined;
  const { hostname } = new URL(written);
  return sites.find((site) => hostname === site || hostname.endsWith(`.${site}`));
}
