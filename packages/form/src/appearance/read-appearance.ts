import type { Appearance } from '@connector-frame/core/protocol';
import { parseColor } from './color.js';
import type { GivenTokens } from './derive-tokens.js';

/** A family: quoted, or words of letters, digits and hyphens. */
const FAMILY = String.raw`(?:"[\p{L}\p{N} -]+"|'[\p{L}\p{N} -]+'|[\p{L}-][\p{L}\p{N}-]*(?: +[\p{L}\p{N}-]+)*)`;
const FONT = new RegExp(`^${FAMILY}(?: *, *${FAMILY})*$`, 'u');
const RADIUS = /^(?:0|(?:\d{1,4}(?:\.\d{1,4})?|\.\d{1,4})(?:px|rem|em|pt|%))$/;

/**
 * Reads the six tokens by a grammar of its own: the browser's would let `var()`, `env()` and `url()` pass. A token that does not
 * fit is left out, and told of once. `resolve` says what a color's name is.
 */
export function readAppearance(
  appearance: Appearance,
  resolve: (name: string) => string,
  warn: (message: string) => void,
): GivenTokens {
  const read = <T>(token: keyof Appearance, parse: (css: string) => T | undefined, takes: string): T | undefined => {
    const css = appearance[token];
    if (css === undefined) return undefined;
    const value = parse(css);
    if (value === undefined)
      warn(`appearance.${token} is ${JSON.stringify(css)}; it takes ${takes}. The default is used.`);
    return value;
  };
  const color = (token: keyof Appearance) =>
    read(token, (css) => parseColor(css, resolve), 'a color: hex, rgb(), hsl(), oklch() or a name');
  const matching = (pattern: RegExp) => (css: string) => (pattern.test(css.trim()) ? css.trim() : undefined);

  const background = color('colorBackground');
  return {
    primary: color('colorPrimary'),
    text: color('colorText'),
    // Nothing to see is nothing given: the page shows through, as it does by default.
    background: background?.[3] === 0 ? undefined : background,
    border: color('colorBorder'),
    font: read('fontFamily', matching(FONT), 'a font stack: names, quotes and commas'),
    radius: read('borderRadius', matching(RADIUS), 'a number and a unit, for example 10px'),
  };
}
