import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { receiver } from './receiver.js';

/** Receives exported logs over the service's HTTP server. */
export const monadOtelInput: ConnectorCode = { createInput: () => ({ kind: 'push' }), receiver };
