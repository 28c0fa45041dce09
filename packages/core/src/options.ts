/**
 * `@connector-frame/core/options`: the table of a form's options. Adapters for frameworks derive
 * their properties from it.
 */
export {
  attributeOf,
  callbackOptions,
  formOptions,
  frameOptions,
  text,
  type Option,
  type OptionTable,
  type OptionValue,
  type OptionValues,
  type RequiredName,
} from './options/option-table.js';
export type {
  Appearance,
  ComponentKind,
  ConfigMetaOverrides,
  ErrorHandler,
  FetchSession,
  SavedConnector,
} from './options/option-values.js';
