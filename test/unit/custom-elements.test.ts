import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ReactiveElement } from '@lit/reactive-element';
import { ConnectorFrameElement } from '@connector-frame/element';
import { ConnectorCatalogElement } from '@connector-frame/element/catalog';

/**
 * `custom-elements.json` is generated from the sources with `npm run analyze -w packages/element`.
 */
interface Described {
  name: string;
  description?: string;
  attribute?: string;
}
type List = 'members' | 'attributes' | 'events' | 'slots' | 'cssParts' | 'cssStates' | 'cssProperties';
type Declaration = Described & { [L in List]?: Described[] };

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
let declarations: Declaration[];

beforeAll(() => {
  execFileSync('npm', ['run', '--silent', 'manifest'], { cwd: new URL('packages/element/', root), stdio: 'ignore' });
  const { modules }: { modules: { declarations: Declaration[] }[] } = JSON.parse(read('custom-elements.json'));
  declarations = modules.flatMap((module) => module.declarations);
});

test('the committed manifest matches the sources', () => {
  const script = fileURLToPath(new URL('packages/element/scripts/root-manifest.mjs', root));
  const code = `console.log(JSON.stringify((await import(${JSON.stringify(script)})).rootManifest()))`;
  const made: string = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }),
  );
  expect(read('custom-elements.json'), 'stale: npm run analyze -w packages/element').toBe(made);
  expect(made).not.toContain('src/');
});

const elements: { of: typeof ReactiveElement; views: string[]; counts: Record<List, number> }[] = [
  {
    of: ConnectorFrameElement,
    views: ['element-views.ts'],
    counts: { members: 26, attributes: 21, events: 4, slots: 3, cssParts: 5, cssStates: 4, cssProperties: 6 },
  },
  {
    of: ConnectorCatalogElement,
    views: ['catalog/catalog-view.ts', 'catalog/catalog-list.ts', 'catalog/catalog-item.ts'],
    counts: { members: 8, attributes: 6, events: 2, slots: 3, cssParts: 14, cssStates: 4, cssProperties: 6 },
  },
];

describe.each(elements)('$of.name', ({ of, views, counts }) => {
  let element: Declaration;
  beforeAll(() => {
    const found = declarations.find(({ name }) => name === of.name);
    if (!found) throw new Error(`custom-elements.json does not know ${of.name}`);
    element = found;
  });

  test.each(Object.entries(counts))('%s: complete and described', (list, count) => {
    const all = element[list as List] ?? [];
    expect(all).toHaveLength(count);
    expect(all.filter(({ description }) => !description)).toEqual([]);
    expect(element.description).toBeTruthy();
  });

  test('lists every property of the class with its attribute', () => {
    const declared = Object.entries(of.properties).map(([name, { attribute }]) => [
      name,
      attribute === false ? undefined : typeof attribute === 'string' ? attribute : name,
    ]);
    const described = new Map(element.members?.map(({ name, attribute }) => [name, attribute]));
    expect(declared.map(([name = '']) => [name, described.get(name)])).toEqual(declared);
  });

  test('lists the rendered parts and slots', () => {
    const code = views.map((view) => read(`packages/element/src/${view}`)).join('');
    const names = (pattern: RegExp): string[] =>
      [...new Set([...code.matchAll(pattern)].map(([, name = '']) => name))].sort();
    expect(element.cssParts?.map(({ name }) => name).sort()).toEqual(names(/\bpart: '([\w-]+)'/g));
    const slots = element.slots?.map(({ name }) => name).filter((name) => name !== '');
    expect(slots?.sort()).toEqual(names(/'slot',\s*\{ name: '(\w+)' \}/g));
  });
});

test('editor data has the tag, its attributes and their values', () => {
  const { tags } = JSON.parse(read('packages/element/dist/vscode.html-custom-data.json'));
  const [tag] = tags;
  expect(tag.name).toBe('connector-frame');
  const kind = tag.attributes.find(({ name }: Described) => name === 'kind');
  expect(kind.values).toEqual([{ name: 'input' }, { name: 'output' }, { name: 'enrichment' }]);
  const webTypes = JSON.parse(read('packages/element/dist/web-types.json'));
  expect(webTypes.version).toBe(JSON.parse(read('packages/element/package.json')).version);
  expect(webTypes.contributions.html.elements[0].name).toBe('connector-frame');
});
