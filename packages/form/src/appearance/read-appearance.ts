import type { Appearance } from '@connector-frame/core/protocol';
import { isColor, readSrgb } from './color.js';
import type { GivenTokens } from './derive-tokens.js';

/**
 * A font family: a quoted string, or words of letters, digits and hyphens. A regex literal, so that
 * it is compiled only if a host sets a font.
 */
const FAMILY = /^("[\p{L}\p{N} -]+"|'[\p{L}\p{N} -]+'|[\p{L}-][\p{L}\p{N}-]*( +[\p{L}\p{N}-]+)*)$/u;

const isFontStack = (css: string): boolean => css.split(/ *, */).every((family) => FAMILY.test(family));

const RADIUS = /^(0|(\d{1,4}(\.\d{1,4})?|\.\d{1,4})(px|rem|em|pt|%))$/;

/** Maximum length of a token in characters, more than any valid value needs. */
const LONGEST = 256;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/**
 * Parses the six tokens with its own grammar. Ignores an invalid token and warns about it once.
 *
 * @param resolve the browser's color parser: returns a color as `color(srgb ...)`, or `''` if it is
 *   invalid
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
    // A fully transparent background counts as unset: the host page shows through, as by default.
    background: background?.[3] === 0 ? undefined : background,
    border: color('colorBorder'),
    font: read('fontFamily', 'a font stack', (css) => (isFontStack(css) ? css : undefined)),
    radius: read('borderRadius', 'a number and a unit', (css) => (RADIUS.test(css) ? css : undefined)),
  };
}
