import type { ConnectorKind } from './types.js';

/** Every kind of connector. */
export const CONNECTOR_KINDS = ['input', 'output', 'enrichment'] as const satisfies readonly ConnectorKind[];
