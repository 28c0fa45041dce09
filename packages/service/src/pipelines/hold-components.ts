import type { Problem } from '@connector-frame/engine';
import type { Tables } from '../store/store.js';
import type { StoredNode } from '../store/tables.js';

/**
 * Locks the connectors and transforms at the nodes against deletion until the transaction ends, and
 * checks that each exists, belongs to the organization and has the right kind. Returns a problem
 * for each node that fails the check; an id of another organization gives the same problem as an
 * unknown one.
 */
export async function holdComponents(
  tables: Tables,
  organizationId: string,
  nodes: readonly StoredNode[],
): Promise<Problem[]> {
  const idsOf = (...types: StoredNode['component_type'][]): string[] => [
    ...new Set(nodes.filter(({ component_type: type }) => types.includes(type)).map((node) => node.component_id)),
  ];
  const connectors = await tables.connectors.hold(organizationId, idsOf('input', 'output', 'enrichment'));
  const transforms = await tables.transforms.hold(organizationId, idsOf('transform'));
  const there = new Set([
    ...connectors.map(({ kind, id }) => `${kind} ${id}`),
    ...transforms.map(({ id }) => `transform ${id}`),
  ]);
  return nodes.flatMap(({ component_type: type, component_id: id }, index): Problem[] => {
    if (there.has(`${type} ${id}`)) return [];
    const message = `The organization has no ${type} of this id.`;
    return [{ path: `/nodes/${index}/component_id`, code: 'unknown', message }];
  });
}
