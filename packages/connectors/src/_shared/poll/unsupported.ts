import type { ConnectorConfig, PollDefinition } from '@connector-frame/catalog/types';
import { getAt, isEmpty } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';

/** @throws PollError `invalid_config` if a setting or secret is filled that would be ignored */
export function rejectUnsupported({ unsupported = [] }: PollDefinition, config: ConnectorConfig): void {
  const at = unsupported.find((path) => {
    const value: unknown = getAt(config, path);
    return value !== false && !isEmpty(value);
  });
  if (at !== undefined)
    throw new PollError(failed('invalid_config', 'This is not supported yet. Leave it empty.', { at }), 'permanent');
}
