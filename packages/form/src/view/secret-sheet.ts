import type { Tokens } from '../appearance/tokens.js';
import css from './css/secret.css?inline';

/** A style sheet to adopt: the one way to bring styles that needs no hash under `style-src 'self'`. */
function sheet(text: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(text);
  return made;
}

const colors = sheet(':host {}');

/** Style sheets of every secret control: one copy for all. */
export const secretSheets = [sheet(css), colors];

/**
 * Colors the secret controls. `all: initial` does not reset custom properties, so those of the page would come through by
 * inheritance. Each one is therefore set on the control itself, `!important` from inside its shadow root, which wins over any rule
 * of the page; the values are those that the appearance's own grammar let pass. `secret.css` uses them as colors and as one radius,
 * never in `url()`, a font or a size, so even a page that registers one of them anew with `@property` can only void a color.
 */
export function colorSecrets(tokens: Tokens): void {
  for (const rule of colors.cssRules) {
    if (!(rule instanceof CSSStyleRule)) continue;
    for (const [name, value] of Object.entries(tokens)) rule.style.setProperty(`--cf-${name}`, value, 'important');
  }
}
