/** `@connector-frame/element/define`: registers `<connector-frame>`. Twice is harmless, also from two copies of this package. */
import { ConnectorFrameElement } from './connector-frame-element.js';

if (!customElements.get('connector-frame')) customElements.define('connector-frame', ConnectorFrameElement);

export { ConnectorFrameElement };
