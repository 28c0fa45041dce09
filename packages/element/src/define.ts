/**
 * `@connector-frame/element/define`: registers `<connector-frame>`. Importing it twice, also from
 * two copies of this package, is safe.
 */
import { ConnectorFrameElement } from './connector-frame-element.js';

if (!customElements.get('connector-frame')) customElements.define('connector-frame', ConnectorFrameElement);

export { ConnectorFrameElement };
