import type { Condition, ConnectorConfig } from '../types.js';
import { getAt } from './pointer.js';

/** Whether a field with this `x-when` is shown: the field it names, and each one under `and`, holds one of the values listed. */
export const isShown = (condition: Condition | undefined, config: ConnectorConfig): boolean =>
  !condition ||
  [condition, ...(condition.and ?? [])].every(({ path, in: values }) =>
    (values as readonly unknown[]).includes(getAt(config, path)),
  );
