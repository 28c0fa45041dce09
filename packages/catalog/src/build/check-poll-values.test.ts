import { expect, test } from 'vitest';
import { setAt } from '../validate/pointer.js';
import { compile } from './compile.js';
import { FILE, goodType, sourcesOf } from './fixture.js';
import { describeProblem } from './problem.js';

const stream = {
  name: 'events',
  path: '/events',
  query: { level: '{{level}}', tag: { list: 'tags' } },
  body: { tags: '{{tags}}', verbose: '{{verbose}}' },
  page_size: 100,
  records: { path: '/data', only: { path: '/tag', field: 'tags' } },
  pagination: { kind: 'none' },
  cursor: { kind: 'none' },
};
const values = {
  level: { field: '/settings/mode', of: { fast: '1', safe: null } },
  verbose: { field: '/settings/verbose', of: { true: 1, '*': null } },
  tags: { field: '/settings/only', split: ',', of: { All: null }, default: ['{{/settings/mode}}', 1] },
};
const good = {
  ...goodType,
  poll: {
    verified: 'documented',
    documentation: ['https://acme.example/docs'],
    base_url: { field: '/settings/url', default: 'https://api.acme.example' },
    authentication: { kind: 'bearer', secret: '/secrets/token' },
    values,
    streams: [stream],
    check: { path: '/{{level}}', query: { mode: '{{/settings/mode:upper}}' }, records: { path: '/data' } },
  },
};
const told = (value: unknown): string[] =>
  compile(sourcesOf(value)).problems.map((problem) => describeProblem(problem).replace(`${FILE}#/poll`, ''));

test('accepts values that are computed from settings', () => {
  expect(told(good)).toEqual([]);
});

const at = '/poll/values';
test.each<[pointer: string, value: unknown, place: string, message: string]>([
  [`${at}/level/of`, { fast: '1' }, '/values/level/of', 'lacks "safe"'],
  [`${at}/level/of/slow`, '2', '/values/level/of/slow', 'is no value of the choice'],
  [`${at}/level/field`, '/secrets/token', '/values/level/field', 'must be the pointer of a setting'],
  [`${at}/level/field`, '/settings/none', '/values/level/field', 'names /settings/none, which is no field'],
  [`${at}/level`, { field: '/settings/mode' }, '/values/level', 'is /settings/mode itself'],
  [`${at}/level/split`, ',', '/query/level', 'names level, which is a list'],
  [`${at}/level/of/fast`, ['1', '2'], '/query/level', 'names level, which is a list'],
  [`${at}/level/of/fast`, '{{since}}', '/values/level/of/fast', "can't say {{since}}"],
  [`${at}/level/of/fast`, '{{/secrets/token}}', '/values/level/of/fast', 'holds the secret'],
  [`${at}/level/of/fast`, {}, '/values/level/of/fast', 'must be a text'],
  [`${at}/tags/json`, true, '/values/tags', 'has "split" and "json"'],
  [`${at}/tags/field`, '/settings/depth', '/values/tags/field', 'names /settings/depth, which is no text'],
  [`${at}/tags/path`, '/name', '/values/tags', 'takes no "path": /settings/only is no list of objects'],
  [`${at}/other`, { field: '/settings/mode', default: 'x' }, '/values/other', 'is used nowhere'],
  [`${at}/since`, { field: '/settings/mode', default: 'x' }, '/values/since', 'is the name of a placeholder'],
  [`${at}/Level`, { field: '/settings/mode', default: 'x' }, '/values/Level', 'must have a name of lower-case'],
  ['/poll/streams/0/query/tag', { list: 'level' }, '/query/tag/list', 'names level, which is no list'],
  ['/poll/streams/0/query/tag', { list: 'labels' }, '/query/tag/list', 'names labels, which is not in "values"'],
  ['/poll/streams/0/query/level', '{{kind}}', '/query/level', "can't say {{kind}}"],
  ['/poll/streams/0/query/level', '{{level:date}}', '/query/level', 'only a time has a form'],
  ['/poll/authentication/secret', 'x', '/authentication/secret', 'must be the pointer of a secret'],
  ['/poll/base_url', 'https://{{level}}.acme.example', '/base_url', "can't say {{level}}"],
  ['/poll/base_url', { field: '/settings/url' }, '/base_url', 'is /settings/url itself'],
  ['/poll/base_url', { field: '/settings/mode', default: 'https://a.example' }, '/base_url', 'needs "of"'],
  [
    '/poll/base_url',
    { field: '/settings/url', of: { '*': 'https://{{/settings/only:lower}}.example' } },
    '/base_url/of/*',
    'mark that setting "x-destination"',
  ],
])('reports %s = %j at %s', (pointer, value, place, message) => {
  const problems = told(setAt(good, pointer, value));
  expect(problems.find((text) => text.includes(message))).toMatch(new RegExp(`^(?:/streams/0)?${escape(place)}: `));
});

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);

const withWhen = (field: string): unknown =>
  setAt(setAt(good, '/poll/values/extra', { field: '/settings/mode', default: 'x' }), '/poll/streams/0/when', {
    field,
  });

test('counts the condition of a stream as a use, and reports one that names nothing', () => {
  expect(told(withWhen('extra'))).toEqual([]);
  expect(told(withWhen('other'))).toContainEqual(expect.stringContaining('/streams/0/when/field: names none'));
});
