import type { Problem } from '@connector-frame/engine';
import type { Tables } from '../store/store.js';
import type { StoredNode } from '../store/tables.js';

/**
 * Sees to it that what stands at the nodes is there, is of the organization and of the right kind, and stays until the
 * transaction ends. Answers a problem for each node where it is not: the same for a foreign id as for an unknown one.
 */
export async function holdComponents(
  tables: Tables,
  organizationId: string,
  nodes: readonly StoredNode[],
): Promise<Problem[]> {
  const idsOf = (...types: StoredNode['component_type'][]): string[] => [
    ...new Set(nodes.filter(({ component_type: type }) => types.includes(type)).map((node) => node.component_id)),
  ];
  const connectors = await tables.connectors.hold(organizationId, idsOf('input', 'output'));
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
