import type { InjectionKey } from 'vue';
import type { ConnectorFrameProps } from './connector-frame-props.js';

/** Where a component finds what `createConnectorFrames` was given. */
export const defaultsKey: InjectionKey<Partial<ConnectorFrameProps>> = Symbol('connector-frames');
