import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { ConnectorFrameElement } from '@connector-frame/element';

/** `custom-elements.json` is made from the sources: `npm run analyze -w packages/element` writes it. */
interface Described {
  name: string;
  description?: string;
  attribute?: string;
}
type List = 'members' | 'attributes' | 'events' | 'slots' | 'cssParts' | 'cssStates' | 'cssProperties';
type Declaration = Described & { [L in List]?: Described[] };

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
let element: Declaration;

beforeAll(() => {
  execFileSync('npm', ['run', '--silent', 'manifest'], { cwd: new URL('packages/element/', root), stdio: 'ignore' });
  const { modules }: { modules: { declarations: Declaration[] }[] } = JSON.parse(read('custom-elements.json'));
  const found = modules
    .flatMap(({ declarations }) => declarations)
    .find(({ name }) => name === 'ConnectorFrameElement');
  if (!found) throw new Error('custom-elements.json does not know the element');
  element = found;
});

test('what is committed is what the sources say', () => {
  const script = fileURLToPath(new URL('packages/element/scripts/root-manifest.mjs', root));
  const code = `console.log(JSON.stringify((await import(${JSON.stringify(script)})).rootManifest()))`;
  const made: string = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }),
  );
  expect(read('custom-elements.json'), 'stale: npm run analyze -w packages/element').toBe(made);
  expect(made).not.toContain('src/');
});

const counts: Record<List, number> = {
  members: 25,
  attributes: 20,
  events: 4,
  slots: 3,
  cssParts: 4,
  cssStates: 4,
  cssProperties: 6,
};

test.each(Object.entries(counts))('%s: all of them, each described', (list, count) => {
  const all = element[list as List] ?? [];
  expect(all).toHaveLength(count);
  expect(all.filter(({ description }) => !description)).toEqual([]);
  expect(element.description).toBeTruthy();
});

test('every property the class has is in it, with its attribute', () => {
  const declared = Object.entries(ConnectorFrameElement.properties).map(([name, { attribute }]) => [
    name,
    attribute === false ? undefined : typeof attribute === 'string' ? attribute : name,
  ]);
  const described = new Map(element.members?.map(({ name, attribute }) => [name, attribute]));
  expect(declared.map(([name = '']) => [name, described.get(name)])).toEqual(declared);
});

test('parts and slots are those that are rendered', () => {
  const views = read('packages/element/src/element-views.ts');
  const names = (pattern: RegExp): string[] =>
    [...new Set([...views.matchAll(pattern)].map(([, name = '']) => name))].sort();
  expect(element.cssParts?.map(({ name }) => name).sort()).toEqual(names(/\bpart: '(\w+)'/g));
  expect(element.slots?.map(({ name }) => name).sort()).toEqual(['', ...names(/'slot',\s*\{ name: '(\w+)' \}/g)]);
});

test('editors get the tag, its attributes and their values', () => {
  const { tags } = JSON.parse(read('packages/element/dist/vscode.html-custom-data.json'));
  const [tag] = tags;
  expect(tag.name).toBe('connector-frame');
  const kind = tag.attributes.find(({ name }: Described) => name === 'kind');
  expect(kind.values).toEqual([{ name: 'input' }, { name: 'output' }]);
  const webTypes = JSON.parse(read('packages/element/dist/web-types.json'));
  expect(webTypes.version).toBe(JSON.parse(read('packages/element/package.json')).version);
  expect(webTypes.contributions.html.elements[0].name).toBe('connector-frame');
});
