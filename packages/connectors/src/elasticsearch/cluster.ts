import { text } from '../_shared/read.js';

/**
 * Returns the cluster's base URL without a trailing slash, or `undefined` if the settings contain
 * no valid one.
 */
export function baseOf(settings: Record<string, unknown>): string | undefined {
  const cloudId = text(settings, 'connection_config', 'cloud_id', 'id');
  const address = cloudId === undefined ? text(settings, 'connection_config', 'url', 'endpoint') : hostOf(cloudId);
  if (address === undefined || !URL.canParse(address)) return undefined;
  return address.replace(/\/+$/, '');
}

/**
 * Parses a cloud ID: a label, a colon, and the Base64 of the domain, the Elasticsearch subdomain
 * and the Kibana subdomain, separated by `$`.
 */
function hostOf(cloudId: string): string | undefined {
  const encoded = cloudId.slice(cloudId.lastIndexOf(':') + 1);
  const [domain, label] = Buffer.from(encoded, 'base64').toString().split('$');
  if (!domain || !label || !/^[\w-]+$/.test(label) || !/^[\w.-]+(:\d+)?$/.test(domain)) return undefined;
  return `https://${label}.${domain}`;
}
