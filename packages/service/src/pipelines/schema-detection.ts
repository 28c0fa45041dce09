import type { StoredEdge } from '../store/tables.js';

/** Whether the schema of the records on an edge is detected. */
export const isDetected = (edge: StoredEdge): boolean => specOf(edge).enabled === true;

/** Whether a change of the schema is written to the log of the pipeline. */
export const isTold = (edge: StoredEdge): boolean => isDetected(edge) && specOf(edge).disable_alerting !== true;

function specOf(edge: StoredEdge): { enabled?: unknown; disable_alerting?: unknown } {
  const spec = edge['schema_detection_spec'];
  return typeof spec === 'object' && spec !== null ? spec : {};
}
