import { ConnectorError, type CreateInput } from '@connector-frame/engine/connector-api';
import { at } from '../_shared/read.js';
import { createSyntheticInputOf } from '../synthetic/input.js';

/** Creates an input that generates synthetic records of the configured type and rate. */
export const createDemoInput: CreateInput = ({ settings }, { type, clock }) => {
  const [shape, rate] = [at(settings, 'record_type'), at(settings, 'rate')];
  if (typeof shape !== 'string' || typeof rate !== 'number' || !(rate > 0))
    throw new ConnectorError(
      'invalid_config',
      'Choose what the records look like, and how many a second.',
      'permanent',
    );
  return createSyntheticInputOf({ ...type, type_id: shape }, { rate, clock });
};
