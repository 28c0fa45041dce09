/**
 * The one validator, for the form and the service alike: same schema, same answer on both sides. No dependency, no DOM,
 * no side effect; nothing here throws on hostile data.
 */
import type { ConnectorConfig, ConnectorConfigSchema, Issue } from './types.js';
import { validateConfig, type ValidateOptions } from './validate/validate-config.js';

export { initialValue, withDefaults } from './validate/defaults.js';
export { boundPointers } from './validate/bound-pointers.js';
export { boundValues, destinationOf, effectiveConfig, isMarked } from './validate/destination.js';
export { isShown } from './validate/is-shown.js';
export { isEmpty, isPlain } from './validate/objects.js';
export { getAt, joinPointer, parsePointer, setAt } from './validate/pointer.js';
export { pruneConfig } from './validate/prune-config.js';
export {
  chosenOf,
  discriminatorOf,
  isGroup,
  isList,
  isMap,
  isUnion,
  variantsOf,
  type Variant,
} from './validate/schema.js';
export { validateConfig, type ValidateOptions };

/** What is wrong at or below one pointer. */
export const validateField = (
  schema: ConnectorConfigSchema,
  config: ConnectorConfig,
  path: string,
  options?: ValidateOptions,
): Issue[] =>
  validateConfig(schema, config, options).filter((issue) => issue.path === path || issue.path.startsWith(`${path}/`));
