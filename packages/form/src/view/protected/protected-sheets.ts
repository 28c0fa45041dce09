import type { Tokens } from '../../appearance/tokens.js';
import secretCss from '../css/secret.css?inline';
import summaryCss from '../css/summary.css?inline';

/** A style sheet to adopt: the one way to bring styles that needs no hash under `style-src 'self'`. */
function sheet(text: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(text);
  return made;
}

const colors = sheet(':host {}');

/** Style sheets of every secret control, and of the summary of errors: one copy for all. */
export const secretSheets = [sheet(secretCss), colors];
export const summarySheets = [sheet(summaryCss), colors];

/**
 * Colors what the page's style sheets can't reach. `all: initial` does not reset custom properties, so those of the page would come
 * through by inheritance. Each one is therefore set on the element itself, `!important` from inside its shadow root, which wins over any
 * rule of the page; the values are those that the appearance's own grammar let pass. The sheets use them as colors and as one radius,
 * never in `url()`, a font or a size, so even a page that registers one of them anew with `@property` can only void a color.
 */
export function colorProtected(tokens: Tokens): void {
  for (const rule of colors.cssRules) {
    if (!(rule instanceof CSSStyleRule)) continue;
    for (const [name, value] of Object.entries(tokens)) rule.style.setProperty(`--cf-${name}`, value, 'important');
  }
}
