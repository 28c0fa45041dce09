import type { InjectionKey } from 'vue';
import type { ConnectorFrameProps } from './connector-frame-props.js';

/** Injection key of the defaults that `createConnectorFrames` received. */
export const defaultsKey: InjectionKey<Partial<ConnectorFrameProps>> = Symbol('connector-frames');
