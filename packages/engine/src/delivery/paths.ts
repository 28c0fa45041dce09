import { compileCondition, type Predicate } from '../conditions/compile-condition.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import { routesOf, type Route } from '../pipeline/routes.js';
import type { CompiledTransform } from '../transforms/compile-transform.js';

/**
 * A stage of a path. A transform with several operations becomes several stages; only the first has
 * the condition of its edge.
 */
export interface PathStage {
  readonly passes: Predicate | 'always' | 'never';
  readonly nodeId: string;
  /** The edge that leads to the node. Absent for further operations of a transform. */
  readonly edgeId?: string;
  /** Absent for the output. */
  readonly operation?: CompiledTransform[number];
  /**
   * Records pass a node once per path through it; they are counted and dead-lettered only on the
   * first.
   */
  readonly first: boolean;
  /**
   * Whether this is the first or last operation of a transform, where its ingress and egress are
   * counted.
   */
  readonly enters: boolean;
  readonly leaves: boolean;
}

/** A compiled path from the input to one output. */
export interface Path {
  /** Distinguishes the paths to one output; empty for the first. */
  readonly name: string;
  readonly stages: readonly PathStage[];
}

/**
 * Compiles the paths to each output, by its node id.
 * @param transforms by node id; a node without one passes records through unchanged
 */
export function compilePaths(
  definition: PipelineDefinition,
  transforms: ReadonlyMap<string, CompiledTransform>,
): Map<string, Path[]> {
  const seen = new Set<string>();
  const paths = new Map<string, Path[]>();
  for (const [outputId, routes] of routesOf(definition))
    paths.set(
      outputId,
      routes.map((route, index) => compilePath(route, index, transforms, seen)),
    );
  return paths;
}

/** A transform without operations passes records through, but counts them. */
const PASS_THROUGH: CompiledTransform = [{ kind: 'each', apply: (record) => record }];

function compilePath(
  route: Route,
  index: number,
  transforms: ReadonlyMap<string, CompiledTransform>,
  seen: Set<string>,
): Path {
  let prefix = '';
  const stages = route.flatMap(({ edge, node }): PathStage[] => {
    // Paths that share a prefix evaluate it once per output; count it only the first time.
    prefix += `${edge.id} `;
    const first = !seen.has(prefix);
    seen.add(prefix);
    const passes = compileCondition(edge.conditions);
    const transform = transforms.get(node.id);
    if (!transform) return [{ passes, nodeId: node.id, edgeId: edge.id, first, enters: false, leaves: false }];
    const operations = transform.length > 0 ? transform : PASS_THROUGH;
    return operations.map((operation, at) => ({
      passes: at === 0 ? passes : 'always',
      nodeId: node.id,
      ...(at === 0 && { edgeId: edge.id }),
      operation,
      first,
      enters: at === 0,
      leaves: at === operations.length - 1,
    }));
  });
  return { name: index === 0 ? '' : String(index), stages };
}
