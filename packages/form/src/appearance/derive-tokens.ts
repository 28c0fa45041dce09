import { BLACK, contrast, mix, toHex, WHITE, type Color } from './color.js';
import type { Tokens } from './tokens.js';

/** The host's parsed tokens. Absent ones were not set or were invalid. */
export interface GivenTokens {
  primary?: Color | undefined;
  text?: Color | undefined;
  background?: Color | undefined;
  border?: Color | undefined;
  font?: string | undefined;
  radius?: string | undefined;
}

export type Scheme = 'light' | 'dark';

const rgb = (hex: number): Color => [hex >> 16, (hex >> 8) & 255, hex & 255, 1];

const DEFAULTS = {
  light: {
    surface: WHITE,
    text: rgb(0x171923),
    border: rgb(0xd9dce3),
    primary: rgb(0x4f46e5),
    danger: rgb(0xc62f2f),
    success: rgb(0x147a3d),
  },
  dark: {
    surface: rgb(0x14161c),
    text: rgb(0xeceef4),
    border: rgb(0x343845),
    primary: rgb(0x8b8cf8),
    danger: rgb(0xff8a80),
    success: rgb(0x5fd39a),
  },
} as const;

const TEXT = 4.5;
const EDGE = 3;

const worst = (color: Color, fills: readonly Color[]): number =>
  Math.min(...fills.map((fill) => contrast(color, fill)));

/**
 * Returns the first color between `color` and `target` whose contrast with all `fills` is at least
 * `ratio`, or `target` if there is none.
 */
function until(color: Color, target: Color, fills: readonly Color[], ratio: number): Color {
  for (let share = 1; share > 0; share -= 0.04) {
    const moved = mix(color, target, share);
    if (worst(moved, fills) >= ratio) return moved;
  }
  return target;
}

/** Composites a possibly translucent color over `below`. */
const over = (color: Color | undefined, below: Color): Color | undefined => color && mix(color, below, color[3]);

/**
 * Mixes at most `share` of `tint` into `surface`, and less where `readable` would not have enough
 * contrast on the result.
 */
function fill(tint: Color, surface: Color, share: number, readable: Color): Color {
  for (let dense = share; dense > 0.005; dense *= 0.7) {
    const mixed = mix(tint, surface, dense);
    if (contrast(readable, mixed) >= TEXT) return mixed;
  }
  return surface;
}

/**
 * Returns whether the form is light or dark. The background token decides; without one, a text
 * token that is readable only on the other scheme; otherwise the host page's scheme.
 */
export function schemeOf({ background, text }: GivenTokens, page: Scheme): Scheme {
  if (background) return contrast(background, BLACK) >= contrast(background, WHITE) ? 'light' : 'dark';
  const other = page === 'light' ? 'dark' : 'light';
  const reads = (scheme: Scheme): boolean => !text || contrast(text, DEFAULTS[scheme].surface) >= TEXT;
  return !reads(page) && reads(other) ? other : page;
}

/**
 * Derives a value for every custom property. Uses the host's `background`, `primary` and `border`
 * as given, and adjusts every color that must be readable until it has enough contrast.
 */
export function deriveTokens(given: GivenTokens, scheme: Scheme): Tokens {
  const defaults = DEFAULTS[scheme];
  const surface = over(given.background, defaults.surface) ?? defaults.surface;
  const extreme = scheme === 'light' ? BLACK : WHITE;

  const text = until(over(given.text, surface) ?? defaults.text, extreme, [surface], TEXT);
  const border =
    over(given.border, surface) ?? (given.background || given.text ? mix(text, surface, 0.16) : defaults.border);
  const primary = over(given.primary, surface) ?? defaults.primary;

  // In the dark scheme, raised surfaces are lighter than the surface behind them.
  const field = scheme === 'dark' ? fill(rgb(0xb8c4f0), surface, 0.04, text) : surface;
  const kept = fill(text, surface, scheme === 'dark' ? 0.065 : 0.09, text);
  const hover = fill(text, surface, 0.05, text);
  const raised = scheme === 'dark' ? fill(text, surface, 0.12, text) : surface;
  const dangerFill = fill(defaults.danger, surface, 0.07, text);
  const successFill = fill(defaults.success, surface, 0.07, text);
  const fills = [surface, field, kept, hover, raised, dangerFill, successFill];

  const light = contrast(WHITE, primary) >= TEXT;
  const onPrimary = light ? WHITE : until(DEFAULTS.dark.surface, BLACK, [primary], TEXT);
  const danger = until(defaults.danger, extreme, [surface, field, dangerFill], TEXT);
  const success = until(defaults.success, extreme, [surface, field, successFill], TEXT);
  const focus = until(primary, extreme, [surface, field], EDGE);

  const colors = {
    surface,
    raised,
    field,
    kept,
    hover,
    text,
    muted: until(mix(text, surface, scheme === 'dark' ? 0.6 : 0.66), text, fills, TEXT),
    placeholder: until(mix(text, field, 0.5), text, [field], TEXT),
    border,
    'border-strong': until(border, extreme, [surface, field], EDGE),
    hairline: border,
    primary,
    'primary-hover': mix(light ? BLACK : WHITE, primary, 0.1),
    'on-primary': onPrimary,
    link: until(primary, extreme, fills, TEXT),
    focus,
    ring: [focus[0], focus[1], focus[2], 0.28] as const,
    danger,
    'danger-fill': dangerFill,
    'danger-border': mix(danger, surface, 0.35),
    success,
    'success-fill': successFill,
    'success-border': mix(success, surface, 0.35),
  } satisfies Partial<Record<keyof Tokens, Color>>;

  return {
    ...hexes(colors),
    background: given.background ? toHex(surface) : 'transparent',
    font: given.font ?? 'system-ui, sans-serif',
    radius: given.radius ?? '8px',
  };
}

function hexes<K extends string>(colors: Record<K, Color>): Record<K, string> {
  return Object.fromEntries(Object.entries<Color>(colors).map(([name, color]) => [name, toHex(color)] as string[]));
}
