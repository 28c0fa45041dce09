/**
 * `@connector-frame/element/define-catalog`: registers `<connector-catalog>`. Importing it twice,
 * also from two copies of this package, is safe.
 */
import { ConnectorCatalogElement } from './catalog/connector-catalog-element.js';

if (!customElements.get('connector-catalog')) customElements.define('connector-catalog', ConnectorCatalogElement);

export { ConnectorCatalogElement };
export { registerMessages } from './messages/registry.js';
