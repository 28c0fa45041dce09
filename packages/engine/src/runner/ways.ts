import { compileCondition, type Predicate } from '../conditions/compile-condition.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import { routesOf, type Route } from '../pipeline/routes.js';
import type { CompiledTransform } from '../transforms/compile-transform.js';

/** A transform with several stages is several steps, the first of them behind its edge. */
export interface WayStep {
  readonly passes: Predicate | 'always' | 'never';
  readonly nodeId: string;
  /** Absent at the output. */
  readonly stage?: CompiledTransform[number];
  /** Records pass a node once for each way over it; they are counted, and refused, on the first. */
  readonly first: boolean;
  /** Here records come to a transform, and here they leave it. */
  readonly enters: boolean;
  readonly leaves: boolean;
}

/** One way to an output, ready to be gone. */
export interface Way {
  /** Tells the ways to one output apart; empty for the first. */
  readonly name: string;
  readonly steps: readonly WayStep[];
}

/** The ways to each output, by its node id. @param transforms by node id; a way over a node without one is left out */
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

/** A transform without operations passes all on, and counts. */
const AS_IT_IS: CompiledTransform = [{ kind: 'each', apply: (record) => record }];

function compileWay(
  route: Route,
  index: number,
  transforms: ReadonlyMap<string, CompiledTransform>,
  seen: Set<string>,
): Way {
  let prefix = '';
  const steps = route.flatMap(({ edge, node }): WayStep[] => {
    // The same beginning of a way is gone once for every output that lies behind it.
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
