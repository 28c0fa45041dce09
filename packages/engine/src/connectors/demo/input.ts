import { EndError } from '../../runner/ends.js';
import { at } from '../read.js';
import { createSyntheticInputOf } from '../synthetic/input.js';
import type { CreateInput } from '../connector-code.js';

/** Creates an input that generates synthetic records of the configured type and rate. */
export const createDemoInput: CreateInput = ({ settings }, { type, clock }) => {
  const [shape, rate] = [at(settings, 'record_type'), at(settings, 'rate')];
  if (typeof shape !== 'string' || typeof rate !== 'number' || !(rate > 0))
    throw new EndError('invalid_config', 'Choose what the records look like, and how many a second.', 'permanent');
  return createSyntheticInputOf({ ...type, type_id: shape }, { rate, clock });
};
