/** `@connector-frame/element/define-catalog`: registers `<connector-catalog>`. Twice is harmless, also from two copies of this package. */
import { ConnectorCatalogElement } from './catalog/connector-catalog-element.js';

if (!customElements.get('connector-catalog')) customElements.define('connector-catalog', ConnectorCatalogElement);

export { ConnectorCatalogElement };
