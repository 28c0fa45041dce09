import { expect, test } from 'vitest';
import type { ComponentType, PipelineDefinition } from './definition.js';
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
