import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { expect, expectTypeOf, test } from 'vitest';
import type { ConnectorFrameOptions } from '@connector-frame/core/connect';
import { formOptions, frameOptions, type callbackOptions } from '@connector-frame/core/options';
import type { InitMessage } from '@connector-frame/core/protocol';
import { elementOptions, ConnectorFrameElement, type ElementOptions } from '@connector-frame/element';
import { ConnectorFrame as VueConnectorFrame, type ConnectorFrameProps as VueProps } from '@connector-frame/vue';
import type { ConnectorFrameProps as ReactProps } from '@connector-frame/react';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Adds an option to the table in the source, as a contributor would. */
const addRegion: Plugin = {
  name: 'add-region',
  setup(bundler) {
    bundler.onLoad({ filter: /options\/option-table\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replace('export const formOptions = {', '$&\n  /** Data region. */\n  region: text,');
      return { contents, loader: 'ts' };
    });
  },
};

test('an entry in the table adds an option to core, parser, element and adapters', async () => {
  const folder = await mkdtemp(join(root, 'node_modules/.cache/option-table-'));
  try {
    const { outputFiles } = await build({
      stdin: {
        contents: `
          import { checkOptions } from './packages/core/src/options/check-options.ts';
          export { parseHostMessage } from '@connector-frame/core/protocol';
          export { ConnectorFrameElement } from '@connector-frame/element';
          export { ConnectorFrame as VueConnectorFrame } from '@connector-frame/vue';
          export function check(options) {
            try { checkOptions(options); } catch ({ message }) { return message; }
          }`,
        resolveDir: join(root, 'test/unit'),
        sourcefile: join(root, 'entry.ts'),
        loader: 'ts',
      },
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      conditions: ['source'],
      external: ['vue'],
      plugins: [addRegion, fromRoot],
    });
    const file = join(folder, 'bundle.mjs');
    await writeFile(file, outputFiles[0]?.text ?? '');
    const changed = await import(pathToFileURL(file).href);

    const form = { kind: 'input', typeId: 'okta-systemlog', sessionToken: 't', organizationId: 'o', apiBase: '/' };
    expect(changed.check({ ...form, region: 7 })).toBe('region: "7" is not a string');
    const init = { source: 'monad-embed', type: 'init', version: 1, ...form };
    expect(changed.parseHostMessage({ ...init, region: 'eu' })).toEqual({ ...init, region: 'eu' });
    expect(changed.parseHostMessage({ ...init, region: 7 })).toEqual(init);
    expect(changed.ConnectorFrameElement.observedAttributes).toContain('region');
    expect(Object.keys(changed.VueConnectorFrame.props)).toContain('region');
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Resolves the relative import of the entry, which is not a file. */
const fromRoot: Plugin = {
  name: 'from-root',
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\/packages\// }, ({ path }) => ({ path: join(root, path) }));
  },
};

test('the element and the Vue component have all options of the form and the frame', () => {
  const names = Object.keys(elementOptions);
  expect(names).toEqual(expect.arrayContaining([...Object.keys(formOptions), ...Object.keys(frameOptions)]));
  expect(Object.keys(ConnectorFrameElement.properties)).toEqual(names);
  expect(Object.keys(Object(VueConnectorFrame).props)).toEqual(names);
});

test('the types have the names of the tables', () => {
  type Form = keyof typeof formOptions;
  type Frame = keyof typeof frameOptions;
  type Callback = keyof typeof callbackOptions;
  type Element = keyof typeof elementOptions;
  expectTypeOf<Exclude<keyof InitMessage, 'source' | 'type' | 'version'>>().toEqualTypeOf<Form>();
  expectTypeOf<keyof ConnectorFrameOptions>().toEqualTypeOf<Form | Frame | Callback | 'container'>();
  expectTypeOf<keyof ElementOptions>().toEqualTypeOf<Element>();
  expectTypeOf<keyof VueProps>().toEqualTypeOf<Element>();
  expectTypeOf<Element>().toExtend<keyof ReactProps>();
  expectTypeOf<ElementOptions['typeId']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ElementOptions['synthetic']>().toEqualTypeOf<boolean>();
});

interface Script {
  pages: { page: string; table(): string }[];
  withTable(text: string, table: string): string;
}

test('the READMEs of core and element list the options of the tables', async () => {
  const { pages, withTable }: Script = await import(pathToFileURL(`${root}/scripts/lib/option-table.mjs`).href);
  for (const { page, table } of pages) {
    const text = readFileSync(page, 'utf8');
    expect(text === withTable(text, table()), `${page} is stale: npm run option-table`).toBe(true);
  }
});
