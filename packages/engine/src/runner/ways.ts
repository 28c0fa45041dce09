import { compileCondition, type Predicate } from '../conditions/compile-condition.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import { routesOf, type Route } from '../pipeline/routes.js';
import type { CompiledTransform } from '../transforms/compile-transform.js';

/**
 * A stage of a path. A transform with several stages takes several steps; only the first has the
 * condition of its edge.
 */
export interface WayStep {
  readonly passes: Predicate | 'always' | 'never';
  readonly nodeId: string;
  /** Absent for the output. */
  readonly stage?: CompiledTransform[number];
  /**
   * Records pass a node once per path through it; they are counted and dead-lettered only on the
   * first.
   */
  readonly first: boolean;
  /**
   * Whether this is the first or last stage of a transform, where its ingress and egress are
   * counted.
   */
  readonly enters: boolean;
  readonly leaves: boolean;
}

/** A compiled path from the input to one output. */
export interface Way {
  /** Distinguishes the paths to one output; empty for the first. */
  readonly name: string;
  readonly steps: readonly WayStep[];
}

/**
 * Compiles the paths to each output, by its node id.
 * @param transforms by node id; a node without one passes records through unchanged
 */
export function compileWays(
  definition: PipelineDefinition,
  transforms: ReadonlyMap<string, CompiledTransform>,
): Map<string, Way[]> {
  const seen = new Set<string>();
  const ways = new Map<string, Way[]>();
  for (const [outputId, routes] of routesOf(definition))
    ways.set(
      outputId,
      routes.map((route, index) => compileWay(route, index, transforms, seen)),
    );
  return ways;
}

/** A transform without operations passes records through, but counts them. */
const AS_IT_IS: CompiledTransform = [{ kind: 'each', apply: (record) => record }];

function compileWay(
  route: Route,
  index: number,
  transforms: ReadonlyMap<string, CompiledTransform>,
  seen: Set<string>,
): Way {
  let prefix = '';
  const steps = route.flatMap(({ edge, node }): WayStep[] => {
    // Paths that share a prefix evaluate it once per output; count it only the first time.
    prefix += `${edge.id} `;
    const first = !seen.has(prefix);
    seen.add(prefix);
    const passes = compileCondition(edge.conditions);
    const transform = transforms.get(node.id);
    if (!transform) return [{ passes, nodeId: node.id, first, enters: false, leaves: false }];
    const stages = transform.length > 0 ? transform : AS_IT_IS;
    return stages.map((stage, at) => ({
      passes: at === 0 ? passes : 'always',
      nodeId: node.id,
      stage,
      first,
      enters: at === 0,
      leaves: at === stages.length - 1,
    }));
  });
  return { name: index === 0 ? '' : String(index), steps };
}
