import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';
import { nanosOf } from '../_shared/time-of.js';
import { webSocketUrl, type WebSocketTarget } from '../_shared/websocket/client.js';

/**
 * Returns the stream of a cluster, perhaps from a moment in the past on.
 * https://proofpointcommunities.force.com/community/s/article/Proofpoint-on-Demand-Pod-Log-API
 *
 * @throws ConnectorError `invalid_config`
 */
export function readTarget({ settings, secrets }: TesterConfig, since: string | undefined): WebSocketTarget {
  const url = webSocketUrl(text(settings, 'api_host') ?? 'wss://logstream.proofpoint.com/');
  const key = text(secrets, 'api_key');
  if (url?.protocol !== 'wss:' || key === undefined) throw invalidConfig('An address and an API key are required.');
  if (url.pathname === '/') url.pathname = '/v1/stream';
  url.searchParams.set('cid', text(settings, 'cluster_id') ?? '');
  url.searchParams.set('type', text(settings, 'type') ?? 'message');
  if (since !== undefined) url.searchParams.set('sinceTime', since);
  return { url, headers: { authorization: `Bearer ${key}` } };
}

/** Proofpoint takes an offset, but no `Z`. */
export const timeParameter = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, '+0000');

/** Returns the time of an event, in milliseconds since the epoch. */
export function timeOf(message: Buffer): number | undefined {
  try {
    const value = at(JSON.parse(message.toString()), 'ts');
    const nanos = typeof value === 'string' ? nanosOf(value) : undefined;
    return nanos === undefined ? undefined : Number(nanos / 1_000_000n);
  } catch {
    return undefined;
  }
}
