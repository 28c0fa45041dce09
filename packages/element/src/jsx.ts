import type { ConnectorFrameElement } from './connector-frame-element.js';
import type { ElementOptions } from './element-options.js';
import type { ConnectorFrameEvents } from './events/event-map.js';

type Handlers = {
  [K in keyof ConnectorFrameEvents as `on${K}`]?:
    | ((this: ConnectorFrameElement, event: ConnectorFrameEvents[K]) => void)
    | undefined;
};

/**
 * Props of `<connector-frame>` in JSX, in addition to those of every element: its properties, and a
 * listener for each of its events. React and Preact listen for the text after `on`, so the names of
 * the listeners are lowercase.
 */
export type ConnectorFrameJsxProps = { [K in keyof ElementOptions]?: ElementOptions[K] | undefined } & Handlers;
