export { CONNECTOR_KINDS } from './connector-kinds.js';
export { exampleConfig, type ExampleOptions } from './example-config.js';
export { loadCatalog } from './load-catalog.js';
export type { Catalog } from './read-catalog.js';
export type * from './types.js';
