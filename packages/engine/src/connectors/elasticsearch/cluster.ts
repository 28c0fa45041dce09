import { text } from '../read.js';

/** Where the cluster of these settings answers, without a slash at the end; `undefined`: nowhere. */
export function baseOf(settings: Record<string, unknown>): string | undefined {
  const cloudId = text(settings, 'connection_config', 'cloud_id', 'id');
  const address = cloudId === undefined ? text(settings, 'connection_config', 'url', 'endpoint') : hostOf(cloudId);
  if (address === undefined || !URL.canParse(address)) return undefined;
  return address.replace(/\/+$/, '');
}

/** A cloud id is a label, a colon, and in Base64: domain, Elasticsearch's own label in it, Kibana's, with `$` between. */
function hostOf(cloudId: string): string | undefined {
  const encoded = cloudId.slice(cloudId.lastIndexOf(':') + 1);
  const [domain, label] = Buffer.from(encoded, 'base64').toString().split('$');
  if (!domain || !label || !/^[\w-]+$/.test(label) || !/^[\w.-]+(:\d+)?$/.test(domain)) return undefined;
  return `https://${label}.${domain}`;
}
