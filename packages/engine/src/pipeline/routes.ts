import type { PipelineDefinition, PipelineEdge, PipelineNode } from './definition.js';

/** One step of a path: the edge that is followed, and the node it leads to. */
export interface Step {
  readonly edge: PipelineEdge;
  readonly node: PipelineNode;
}

/** A path from the input to an output; the last step ends there. */
export type Route = readonly Step[];

/** Maximum number of paths from the input to all outputs. */
export const MAX_ROUTES = 100;

/**
 * Returns the paths from the input to each enabled output, by the output's id, without paths over
 * disabled edges or nodes. Stops one path above `MAX_ROUTES`, so that callers can detect the excess
 * without walking every path.
 */
export function routesOf({ nodes, edges }: Pick<PipelineDefinition, 'nodes' | 'edges'>): Map<string, Route[]> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const from = new Map<string, PipelineEdge[]>();
  for (const edge of edges) {
    if (edge.disabled === true) continue;
    from.set(edge.from_node_instance_id, [...(from.get(edge.from_node_instance_id) ?? []), edge]);
  }
  const routes = new Map<string, Route[]>();
  const leading = leadingToOutput(nodes, edges);
  let count = 0;
  const walk = (nodeId: string, steps: Route): void => {
    for (const edge of from.get(nodeId) ?? []) {
      const node = byId.get(edge.to_node_instance_id);
      // A path with more steps than nodes contains a cycle.
      if (!node?.enabled || !leading.has(node.id) || steps.length >= nodes.length || count > MAX_ROUTES) continue;
      const longer = [...steps, { edge, node }];
      if (node.component_type === 'output') {
        count += 1;
        routes.set(node.id, [...(routes.get(node.id) ?? []), longer]);
      } else walk(node.id, longer);
    }
  };
  const input = inputOf({ nodes });
  if (input?.enabled) walk(input.id, []);
  return routes;
}

export const inputOf = ({ nodes }: Pick<PipelineDefinition, 'nodes'>): PipelineNode | undefined =>
  nodes.find((node) => node.component_type === 'input');

/**
 * Returns the nodes from which an output can be reached. Without dead ends, counting paths costs no
 * more than the number of paths.
 */
function leadingToOutput(nodes: readonly PipelineNode[], edges: readonly PipelineEdge[]): ReadonlySet<string> {
  const leading = new Set(nodes.filter((node) => node.component_type === 'output').map((node) => node.id));
  for (let before = -1; before !== leading.size;) {
    before = leading.size;
    for (const edge of edges) if (leading.has(edge.to_node_instance_id)) leading.add(edge.from_node_instance_id);
  }
  return leading;
}
