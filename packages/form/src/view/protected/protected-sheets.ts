import type { Tokens } from '../../appearance/tokens.js';
import secretCss from '../css/secret.css?inline';
import summaryCss from '../css/summary.css?inline';

/**
 * Creates a constructed style sheet: the only way to add styles that needs no hash under `style-src
 * 'self'`.
 */
function sheet(text: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(text);
  return made;
}

/** Colors of every shadow root of the form. */
export const colors = sheet(':host {}');

/** Style sheets shared by all secret controls, and by the error summary. */
export const secretSheets = [sheet(secretCss), colors];
export const summarySheets = [sheet(summaryCss), colors];

/**
 * Sets the colors of the shadow roots, which the page's style sheets cannot reach. `all: initial`
 * does not reset custom properties, so the page's values would be inherited. Each property is
 * therefore set on the host element, as `!important` from inside its shadow root, which overrides
 * any rule of the page; the values have passed the grammar of the appearance. The sheets use them
 * as colors and as one radius, never in `url()`, a font or a size, so even a page that registers
 * one of them with `@property` can only invalidate a color.
 */
export function colorProtected(tokens: Tokens): void {
  for (const rule of colors.cssRules) {
    if (!(rule instanceof CSSStyleRule)) continue;
    for (const [name, value] of Object.entries(tokens)) rule.style.setProperty(`--cf-${name}`, value, 'important');
  }
}
