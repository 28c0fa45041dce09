import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { receiver } from './receiver.js';

/** Receives records over the service's HTTP server. */
export const monadHttpInput: ConnectorCode = { createInput: () => ({ kind: 'push' }), receiver };
