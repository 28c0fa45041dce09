import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, ElementContext } from 'axe-core';
import type { Frame, Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Returns axe's violations in a document, excluding its frames: for each rule, its id and the
 * elements.
 * @param context a selector, or what to exclude; defaults to the whole document
 */
export async function axeViolations(document: Page | Frame, context?: ElementContext): Promise<string[]> {
  if (!(await document.evaluate(`'axe' in globalThis`))) await document.evaluate(source);
  const options = { iframes: false, resultTypes: ['violations'] };
  const { violations } = await document.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(context) ?? 'document'}, ${JSON.stringify(options)})`,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
