import { build } from 'esbuild';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipped, report } from './lib.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * Returns what a host page downloads for an import, bundled and minified as its own build would do.
 */
async function bundled(code, external = []) {
  const result = await build({
    stdin: { contents: code, resolveDir: `${root}test` },
    bundle: true,
    external,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  return result.outputFiles[0].contents;
}

const bytes = (name, content, bound) => {
  const size = gzipped(content);
  report(name, `${size} B gzip (${content.length} B)`, bound && `at most ${bound} B`, bound && size <= bound);
};

export default async function size() {
  const one = `import { createConnectorFrame } from '@connector-frame/core/connect'; globalThis.create = createConnectorFrame;`;
  bytes('createConnectorFrame alone', await bundled(one), 2_400);
  bytes('all of /connect', await bundled(`export * from '@connector-frame/core/connect';`), 4_000);

  const element = await bundled(`export * from '@connector-frame/element/define';`);
  bytes('the element, with core and Lit', element);
  for (const framework of ['react', 'vue']) {
    const adapter = await bundled(`export * from '@connector-frame/${framework}';`, [framework]);
    const over = gzipped(adapter) - gzipped(element);
    report(`the ${framework} adapter over the element`, `${over} B gzip`, 'at most 2000 B', over <= 2_000);
  }
  bytes('the drop-in', readFileSync(`${root}packages/element/dist/connector-frame.js`), 12_000);

  const form = `${root}packages/form/dist/`;
  const scripts = readdirSync(`${form}assets`).filter((file) => file.endsWith('.js'));
  const [extras, main] = scripts.toSorted();
  report('scripts of the form', scripts.length, 'two: one for few types', scripts.length === 2);
  bytes('the form\u2019s script', readFileSync(`${form}assets/${main}`), 35_000);
  bytes('the form\u2019s script with what few types need', readFileSync(`${form}assets/${extras}`));
  bytes('the form\u2019s page with its inline script', readFileSync(`${form}index.html`));
}
