import { expect, test } from 'vitest';
import type { ComponentType, PipelineDefinition } from './definition.js';
import { consumersOf } from './overflow.js';
import { routesOf } from './routes.js';
import { validatePipeline } from './validate-pipeline.js';

/**
 * Builds a pipeline: `graph('in a out', 'in>a a>out')`. The first letter of a name determines the
 * type of the node.
 */
function graph(names: string, ways: string): PipelineDefinition {
  const kinds: Record<string, ComponentType> = { i: 'input', o: 'output' };
  return {
    id: 'p',
    nodes: names
      .split(' ')
      .filter(Boolean)
      .map((name) => ({
        id: name,
        slug: name,
        component_id: name,
        component_type: kinds[name[0] ?? ''] ?? 'transform',
        enabled: true,
      })),
    edges: ways
      .split(' ')
      .filter(Boolean)
      .map((way, index) => ({
        id: `e${index}`,
        from_node_instance_id: way.split('>')[0] ?? '',
        to_node_instance_id: way.split('>')[1] ?? '',
        conditions: { operator: 'always' },
      })),
  };
}

const chain = Array.from({ length: 8 }, (_, n) => `a${n} b${n} c${n}`).join(' ');
const diamonds = Array.from({ length: 8 }, (_, n) => `a${n}>b${n} a${n}>c${n} b${n}>a${n + 1} c${n}>a${n + 1}`).join(
  ' ',
);

test.each([
  ['', ''],
  ['in', ''],
  ['in out', 'in>out'],
  ['in a out', 'in>a a>out'],
  ['in a b out o2', 'in>a in>b a>out b>out b>o2'],
])('accepts the nodes %j with the edges %j', (names, ways) => {
  expect(validatePipeline(graph(names, ways))).toEqual([]);
});

test.each([
  ['out', '', '/nodes', 'shape'],
  ['in i2 out', 'in>out i2>out', '/nodes', 'shape'],
  ['in out', '', '/nodes/1', 'dangling'],
  ['in a out', 'in>out a>out', '/nodes/1', 'dangling'],
  ['in a out', 'in>out in>a', '/nodes/1', 'dangling'],
  ['in out', 'in>gone', '/edges/0/to_node_instance_id', 'dangling'],
  ['in out', 'gone>out', '/edges/0/from_node_instance_id', 'dangling'],
  ['in out o2', 'in>out out>o2', '/edges/1/from_node_instance_id', 'shape'],
  ['in a out', 'in>a a>out a>in', '/edges/2/to_node_instance_id', 'shape'],
  ['in a b out', 'in>a a>b b>a b>out', '/edges', 'cycle'],
  ['in a out', 'in>a a>a a>out', '/edges', 'cycle'],
  ['in out', 'in>out in>out', '/edges/1', 'duplicate'],
  ['in in out', 'in>out', '/nodes/1/id', 'duplicate'],
  [`in ${chain} a8 out`, `in>a0 ${diamonds} a8>out`, '/edges', 'too_many'],
  [Array.from({ length: 51 }, (_, n) => `i${n}`).join(' '), '', '/nodes', 'too_many'],
])('rejects the nodes %j with the edges %j, with the path of the problem', (names, ways, path, code) => {
  expect(validatePipeline(graph(names, ways))).toContainEqual(expect.objectContaining({ path, code }));
});

test('reports the path of an invalid condition', () => {
  const { nodes, edges } = graph('in out', 'in>out');
  const [edge] = edges;
  // The type excludes this value, but a request may contain it.
  const conditions = JSON.parse('{ "operator": "sometimes" }');
  const bad = edge ? [{ ...edge, conditions }] : [];
  expect(validatePipeline({ nodes, edges: bad })).toEqual([
    expect.objectContaining({ path: '/edges/0/conditions/operator' }),
  ]);
});

const ways = (definition: PipelineDefinition): string[] =>
  [...routesOf(definition)].flatMap(([, routes]) => routes.map((route) => route.map(({ node }) => node.id).join('>')));

test('validates many dead ends quickly', () => {
  const names = Array.from({ length: 48 }, (_, n) => `a${n}`);
  const dead = names.flatMap((name, n) => [`${name}>a${n + 1}`, `${name}>a${n + 2}`]).slice(0, 92);
  const problems = validatePipeline(graph(`in ${names.join(' ')} out`, `in>a0 in>out ${dead.join(' ')}`));
  expect(problems).toHaveLength(48);
  expect(problems[0]).toMatchObject({ path: '/nodes/1', code: 'dangling' });
});

test('routes skip disabled nodes and edges', () => {
  const { id, nodes, edges } = graph('in a b out o2', 'in>a in>b a>out b>out b>o2');
  expect(ways({ id, nodes, edges })).toEqual(['a>out', 'b>out', 'b>o2']);
  const off = nodes.map((node) => ({ ...node, enabled: node.id !== 'b' }));
  expect(ways({ id, nodes: off, edges })).toEqual(['a>out']);
  expect(ways({ id, nodes, edges: edges.map((edge) => ({ ...edge, disabled: edge.id === 'e0' })) })).toEqual([
    'b>out',
    'b>o2',
  ]);
});

/** Sets the overflow of the edges to `out`, in their order. */
const overflowing = (ways: string, ...given: unknown[]): PipelineDefinition => {
  const definition = graph('in a b out', ways);
  const toOut = definition.edges.filter((edge) => edge.to_node_instance_id === 'out');
  // A pipeline may have been stored by another release, so the value can be anything.
  const edges = JSON.parse(JSON.stringify(definition.edges)).map((edge: { id: string }) => {
    const overflow = given[toOut.findIndex(({ id }) => id === edge.id)];
    return overflow === undefined ? edge : { ...edge, overflow };
  });
  return { ...definition, edges };
};
const WAYS = 'in>a in>b a>out b>out';
const MIB = 1024 * 1024;

test.each([
  [{ policy: 'drop_oldest' }, '/edges/2/overflow/policy', 'unknown'],
  [{ policy: 'block', max_bytes: 1000 }, '/edges/2/overflow/max_bytes', 'invalid'],
  [{ policy: 'block', max_bytes: 2 * MIB + 0.5 }, '/edges/2/overflow/max_bytes', 'invalid'],
  ['block', '/edges/2/overflow', 'type'],
])('the overflow policy %j is rejected', (overflow, path, code) => {
  expect(validatePipeline(overflowing(WAYS, overflow))).toMatchObject([{ path, code }]);
});

test('an edge to a transform has no overflow policy', () => {
  const { nodes, edges } = graph('in a out', 'in>a a>out');
  const [first, ...rest] = edges;
  if (!first) return;
  const problems = validatePipeline({ nodes, edges: [{ ...first, overflow: { policy: 'spill' } }, ...rest] });
  expect(problems).toMatchObject([{ path: '/edges/0/overflow', code: 'shape' }]);
});

test.each([
  ['an edge without one blocks', [], { policy: 'block' }],
  [
    'records are dropped if all edges ask for it, with the largest budget',
    [
      { policy: 'drop_newest', max_bytes: 2 * MIB },
      { policy: 'drop_newest', max_bytes: 3 * MIB },
    ],
    { policy: 'drop_newest', maxBytes: 3 * MIB },
  ],
  ['one edge that blocks prevents dropping', [{ policy: 'drop_newest', max_bytes: MIB }], { policy: 'block' }],
  [
    'one edge that spills wins',
    [{ policy: 'drop_newest' }, { policy: 'spill', max_bytes: 8 * MIB }],
    { policy: 'spill', maxBytes: 8 * MIB },
  ],
  ['an edge without a budget has the largest', [{ policy: 'block', max_bytes: MIB }, {}], { policy: 'block' }],
  ['an unknown policy of another release blocks', [{ policy: 'later' }, 'later'], { policy: 'block' }],
])('of several edges to an output, %s', (_title, given, expected) => {
  expect(consumersOf(overflowing(WAYS, ...given))).toEqual([{ name: 'out', ...expected }]);
});
