import { validateCondition } from '../conditions/validate-condition.js';
import type { PipelineDefinition } from './definition.js';
import { Problems, shown, type Problem } from '../problem.js';
import { validateOverflow } from './overflow.js';
import { MAX_ROUTES, routesOf } from './routes.js';

const MAX_NODES = 50;
const MAX_EDGES = 100;

type Graph = Pick<PipelineDefinition, 'nodes' | 'edges'>;

/**
 * Validates the nodes and edges of a pipeline before it is saved. An empty pipeline is valid. The
 * caller validates the shape of nodes and edges; conditions are fully validated here.
 *
 * @example
 * ```ts
 * validatePipeline({ nodes: [], edges: [] }); // []
 * ```
 */
export function validatePipeline(graph: Graph): readonly Problem[] {
  const problems = new Problems();
  const { nodes, edges } = graph;
  if (nodes.length > MAX_NODES) problems.at('nodes').add('too_many', `A pipeline has at most ${MAX_NODES} nodes.`);
  if (edges.length > MAX_EDGES) problems.at('edges').add('too_many', `A pipeline has at most ${MAX_EDGES} edges.`);
  if (problems.list.length > 0) return problems.list;
  checkNodes(graph, problems.at('nodes'));
  checkEdges(graph, problems.at('edges'));
  // Paths are only meaningful if nodes and edges are valid.
  if (problems.list.length === 0) checkWays(graph, problems);
  return problems.list;
}

function checkNodes({ nodes }: Graph, problems: Problems): void {
  for (const name of ['id', 'slug'] as const) {
    const seen = new Set<string>();
    for (const [index, node] of nodes.entries()) {
      if (seen.has(node[name]))
        problems.at(index, name).add('duplicate', `Another node has the ${name} ${shown(node[name])}.`);
      seen.add(node[name]);
    }
  }
  const inputs = nodes.filter((node) => node.component_type === 'input').length;
  if (nodes.length > 0 && inputs !== 1)
    problems.add('shape', `A pipeline begins at one input. This one has ${inputs}.`);
}

function checkEdges({ nodes, edges }: Graph, problems: Problems): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const pairs = new Set<string>();
  for (const [index, edge] of edges.entries()) {
    const place = problems.at(index);
    const from = byId.get(edge.from_node_instance_id);
    const to = byId.get(edge.to_node_instance_id);
    if (!from) place.at('from_node_instance_id').add('dangling', `No node is ${shown(edge.from_node_instance_id)}.`);
    if (!to) place.at('to_node_instance_id').add('dangling', `No node is ${shown(edge.to_node_instance_id)}.`);
    if (from?.component_type === 'output')
      place.at('from_node_instance_id').add('shape', `Nothing leaves the output ${shown(from.slug)}.`);
    if (to?.component_type === 'input')
      place.at('to_node_instance_id').add('shape', `Nothing leads to the input ${shown(to.slug)}.`);
    const pair = `${edge.from_node_instance_id} ${edge.to_node_instance_id}`;
    if (pairs.has(pair))
      place.add('duplicate', 'Another edge joins the same nodes. Put both conditions into one, with "or".');
    pairs.add(pair);
    if (edge.overflow !== undefined) {
      if (to && to.component_type !== 'output')
        place
          .at('overflow')
          .add(
            'shape',
            `Only an edge to an output has an overflow policy. ${shown(to.slug)} has no buffer of its own.`,
          );
      validateOverflow(edge.overflow, place.at('overflow'));
    }
    if (edge.conditions !== undefined) validateCondition(edge.conditions, place.at('conditions'));
  }
}

function checkWays(graph: Graph, problems: Problems): void {
  const circle = nodeInCircle(graph);
  if (circle !== undefined) return problems.at('edges').add('cycle', `The graph has a cycle at ${shown(circle)}.`);
  const all = {
    nodes: graph.nodes.map((node) => ({ ...node, enabled: true })),
    edges: graph.edges.map((edge) => ({ ...edge, disabled: false })),
  };
  const routes = [...routesOf(all).values()].flat();
  if (routes.length > MAX_ROUTES)
    return problems.at('edges').add('too_many', `More than ${MAX_ROUTES} paths lead from the input to the outputs.`);
  const reached = new Set(routes.flatMap((route) => route.map(({ node }) => node.id)));
  for (const [index, node] of graph.nodes.entries()) {
    if (node.component_type === 'input' || reached.has(node.id)) continue;
    const where = node.component_type === 'output' ? 'No path reaches' : 'No path to an output passes through';
    problems.at('nodes', index).add('dangling', `${where} ${shown(node.slug)}. Add an edge, or remove it.`);
  }
}

/** Repeatedly removes the nodes without incoming edges; the remaining nodes contain a cycle. */
function nodeInCircle({ nodes, edges }: Graph): string | undefined {
  let rest = [...nodes];
  for (;;) {
    const ids = new Set(rest.map((node) => node.id));
    const entered = new Set(
      edges.filter((edge) => ids.has(edge.from_node_instance_id)).map((edge) => edge.to_node_instance_id),
    );
    const next = rest.filter((node) => entered.has(node.id));
    if (next.length === rest.length) return rest[0]?.slug;
    rest = next;
  }
}
