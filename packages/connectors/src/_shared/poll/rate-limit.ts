import type { ConnectorConfig, PollRate } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { readNumber } from './setting-number.js';

/** Returns the customer's rate limit: `{ rate, unit }`. @throws PollError `invalid_config` */
export function rateLimit(limit: PollRate['limit'], config: ConnectorConfig): unknown {
  if (limit === undefined) return undefined;
  if (typeof limit === 'string') return getAt(config, limit);
  return { rate: readNumber(limit, config), unit: `per_${limit.per}` };
}
