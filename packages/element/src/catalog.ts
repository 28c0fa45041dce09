/**
 * `@connector-frame/element/catalog`: the picker's class, its events and its search. Importing it
 * registers nothing.
 */
export { ConnectorCatalogElement } from './catalog/connector-catalog-element.js';
export { createSearch, type Search } from './catalog/search-types.js';
export { hueOf, lettersOf } from './catalog/letter-tile.js';
export { ConnectorErrorEvent } from './events/connector-error-event.js';
export { ConnectorSelectEvent } from './events/connector-select-event.js';
export type { ConnectorCatalogEventMap, ConnectorCatalogEvents } from './events/catalog-event-map.js';
export type { CatalogType } from '@connector-frame/core/connect';
