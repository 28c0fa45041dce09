import type { ConnectorFrameElement } from './connector-frame-element.js';
import type { ConnectorFrameEvents } from './events/event-map.js';
import type { FrameSettings } from './frame-settings.js';

type Handlers = {
  [K in keyof ConnectorFrameEvents as `on${K}`]?:
    ((this: ConnectorFrameElement, event: ConnectorFrameEvents[K]) => void) | undefined;
};

/**
 * What `<connector-frame>` takes in JSX, beside what any element of the library takes: its properties, and a listener for
 * each of its events. The names of the listeners are lowercase, as React and Preact listen for what follows `on`.
 */
export type ConnectorFrameJsxProps = { [K in keyof FrameSettings]?: FrameSettings[K] | undefined } & {
  preload?: ConnectorFrameElement['preload'] | undefined;
} & Handlers;
