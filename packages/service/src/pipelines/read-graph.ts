import { randomUUID } from 'node:crypto';
import { isCondition, validateCondition, validatePipeline, type Problem } from '@connector-frame/engine';
import type { Pipeline } from '../store/store.js';
import type { StoredEdge, StoredNode } from '../store/tables.js';
import type { EdgeWrite, NodeWrite } from './graph-bodies.js';
import { invalidPipeline } from './invalid-pipeline.js';

export type Graph = Pick<Pipeline, 'nodes' | 'edges'>;

const EMPTY: Graph = { nodes: [], edges: [] };

/**
 * Returns the nodes and edges to store for a write; an absent part keeps its previous value. Nodes
 * and edges keep their ids, and nodes also match by slug, so that their counts continue.
 * @throws ApiError 400 `invalid_pipeline`
 */
export function readGraph(
  write: { nodes?: readonly NodeWrite[] | undefined; edges?: readonly EdgeWrite[] | undefined },
  before: Graph = EMPTY,
): Graph {
  const named = new Map<string, string>();
  const nodes = write.nodes ? readNodes(write.nodes, before.nodes, named) : before.nodes;
  const edges = write.edges ? readEdges(write.edges, before.edges, endsOf(nodes, named)) : before.edges;
  const problems = validatePipeline({ nodes, edges });
  if (problems.length > 0) throw invalidPipeline(problems);
  return { nodes, edges };
}

/**
 * Assigns node ids. A node whose component changed gets a new id, so that it does not continue from
 * the previous component's position.
 * @param named receives the assigned id of each node, by the id given in the write
 */
function readNodes(
  writes: readonly NodeWrite[],
  before: readonly StoredNode[],
  named: Map<string, string>,
): StoredNode[] {
  const taken = new Set<string>();
  const same = (node: NodeWrite, field: 'id' | 'slug'): string | undefined =>
    before.find((each) => each[field] === node[field] && each.component_id === node.component_id && !taken.has(each.id))
      ?.id;
  const take = (id: string | undefined): string | undefined => {
    if (id !== undefined) taken.add(id);
    return id;
  };
  const byId = writes.map((node) => take(same(node, 'id')));
  // `component` describes the connector in responses.
  return writes.map(({ component: _component, ...node }, index) => {
    const id = byId[index] ?? take(same(node, 'slug')) ?? randomUUID();
    if (node.id !== undefined) named.set(node.id, id);
    return { ...node, id };
  });
}

/** Returns a function that resolves an edge's node reference: by id, otherwise by slug. */
function endsOf(nodes: readonly StoredNode[], named: ReadonlyMap<string, string>): (reference: string) => string {
  const ids = new Set(nodes.map(({ id }) => id));
  const bySlug = new Map(nodes.map(({ id, slug }) => [slug, id]));
  return (reference) => named.get(reference) ?? (ids.has(reference) ? reference : (bySlug.get(reference) ?? reference));
}

function readEdges(
  writes: readonly EdgeWrite[],
  before: readonly StoredEdge[],
  end: (reference: string) => string,
): StoredEdge[] {
  const free = new Set(before.map(({ id }) => id));
  const problems: Problem[] = [];
  const edges = writes.map((edge, index): StoredEdge => {
    const conditions = edge.conditions ?? { operator: 'always' };
    const own = edge.id !== undefined && free.delete(edge.id) ? edge.id : randomUUID();
    const read = {
      ...edge,
      id: own,
      from_node_instance_id: end(edge.from_node_instance_id),
      to_node_instance_id: end(edge.to_node_instance_id),
    };
    if (isCondition(conditions)) return { ...read, conditions };
    const found = validateCondition(conditions);
    problems.push(...found.map((problem) => ({ ...problem, path: `/edges/${index}/conditions${problem.path}` })));
    return { ...read, conditions: { operator: 'never' } };
  });
  if (problems.length > 0) throw invalidPipeline(problems);
  return edges;
}
