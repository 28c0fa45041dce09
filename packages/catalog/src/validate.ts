/**
 * Validator shared by the form and the service: for the same schema and configuration, both get the
 * same result. It has no dependencies, no DOM access and no side effects, and never throws on
 * hostile data.
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

/**
 * Returns the issues at or below one pointer.
 *
 * @example
 * ```ts
 * validateField(schema, config, '/settings/headers');
 * ```
 */
export const validateField = (
  schema: ConnectorConfigSchema,
  config: ConnectorConfig,
  path: string,
  options?: ValidateOptions,
): Issue[] =>
  validateConfig(schema, config, options).filter((issue) => issue.path === path || issue.path.startsWith(`${path}/`));
