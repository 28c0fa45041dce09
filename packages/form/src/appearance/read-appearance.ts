import type { Appearance } from '@connector-frame/core/protocol';
import { isColor, readSrgb } from './color.js';
import type { GivenTokens } from './derive-tokens.js';

/** A family: quoted, or words of letters, digits and hyphens. A literal, so that it is compiled only where a page gives a font. */
const FAMILY = /^("[\p{L}\p{N} -]+"|'[\p{L}\p{N} -]+'|[\p{L}-][\p{L}\p{N}-]*( +[\p{L}\p{N}-]+)*)$/u;

const isFontStack = (css: string): boolean => css.split(/ *, */).every((family) => FAMILY.test(family));

const RADIUS = /^(0|(\d{1,4}(\.\d{1,4})?|\.\d{1,4})(px|rem|em|pt|%))$/;

/** More than any token takes. */
const LONGEST = 256;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/**
 * Reads the six tokens by a grammar of its own. A token that does not fit is left out, and told of once. `resolve` is the
 * browser: it writes a color as `color(srgb ...)`, or answers `''` for what is none.
 */
export function readAppearance(
  appearance: unknown,
  resolve: (color: string) => string,
  warn: (message: string) => void,
): GivenTokens {
  const read = <T>(token: keyof Appearance, takes: string, parse: (css: string) => T | undefined): T | undefined => {
    const given = isObject(appearance) && Object.hasOwn(appearance, token) ? appearance[token] : undefined;
    if (given === undefined) return undefined;
    const value = typeof given === 'string' && given.length <= LONGEST ? parse(given.trim()) : undefined;
    if (value === undefined)
      warn(`appearance.${token} takes ${takes}. It was given something else; the default is used.`);
    return value;
  };
  const color = (token: keyof Appearance) =>
    read(token, 'a color (hex, rgb(), hsl(), oklch() or a name)', (css) =>
      isColor(css) ? readSrgb(resolve(css)) : undefined,
    );
  const background = color('colorBackground');
  return {
    primary: color('colorPrimary'),
    text: color('colorText'),
    // Nothing to see is nothing given: the page shows through, as it does by default.
    background: background?.[3] === 0 ? undefined : background,
    border: color('colorBorder'),
    font: read('fontFamily', 'a font stack', (css) => (isFontStack(css) ? css : undefined)),
    radius: read('borderRadius', 'a number and a unit', (css) => (RADIUS.test(css) ? css : undefined)),
  };
}
