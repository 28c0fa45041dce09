import type { Condition, ConnectorConfig } from '../types.js';
import { getAt } from './pointer.js';

/**
 * Returns whether a field with this `x-when` is shown: the field that it names, and each one under
 * `and`, must hold one of the listed values.
 */
export const isShown = (condition: Condition | undefined, config: ConnectorConfig): boolean =>
  !condition ||
  [condition, ...(condition.and ?? [])].every(({ path, in: values }) =>
    (values as readonly unknown[]).includes(getAt(config, path)),
  );
