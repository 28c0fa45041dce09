import { createHash } from 'node:crypto';
import { overridesOf } from '../config-overrides.js';
import { isDetected } from '../schema-detection.js';
import type { RunningRow } from '../../store/running-pipelines.js';

/**
 * Returns a hash that changes whenever the runner must be recreated, but not when the pipeline is
 * renamed, paused or resumed.
 */
export function fingerprintOf({ pipeline, connectors, secrets, transforms, transformSecrets }: RunningRow): string {
  const hash = createHash('sha256');
  const graph = [
    pipeline.nodes.map((node) => [
      node.id,
      node.slug,
      node.component_id,
      node.component_type,
      node.enabled,
      overridesOf(node),
    ]),
    pipeline.edges.map((edge) => [
      edge.id,
      edge.from_node_instance_id,
      edge.to_node_instance_id,
      edge.disabled,
      edge.conditions,
      edge.overflow,
      isDetected(edge),
    ]),
    [...connectors.values()].map(({ id, kind, type, settings, port }) => [id, kind, type, settings, port]),
    [...transforms.values()].map(({ id, config }) => [id, config]),
  ];
  hash.update(JSON.stringify(graph));
  const sorted = secrets.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id, field, sealed, shared, consent } of sorted) {
    // The tokens of an account change while the pipeline runs.
    hash.update(`\n${id} ${field} `).update(consent?.connectedAt ?? sealed);
    if (shared) hash.update(shared.sealed);
  }
  for (const { id, sealed } of transformSecrets) hash.update(`\n${id} `).update(sealed);
  return hash.digest('base64');
}
