import { deriveTokens, schemeOf } from './derive-tokens.js';
import { readAppearance } from './read-appearance.js';
import type { Tokens } from './tokens.js';

/** The applied appearance. */
export interface AppliedAppearance {
  readonly tokens: Tokens;
  /** Calls `listener` with the new tokens when the host page switches between light and dark. */
  onChange(listener: (tokens: Tokens) => void): void;
}

/**
 * Parses the host's tokens once and sets the custom properties on the document element, again
 * whenever the host page switches between light and dark.
 *
 * @param appearance untrusted; unknown tokens are ignored
 * @param warn called with a message for each invalid token
 */
export function applyAppearance(appearance: unknown, warn: (message: string) => void): AppliedAppearance {
  const root = document.documentElement;
  const given = readAppearance(appearance, resolve, warn);
  const dark = matchMedia('(prefers-color-scheme: dark)');

  const apply = (): Tokens => {
    const page = dark.matches ? 'dark' : 'light';
    const scheme = schemeOf(given, page);
    const tokens = deriveTokens(given, scheme);
    if (given.background || scheme !== page) root.style.colorScheme = scheme;
    for (const [name, value] of Object.entries(tokens)) root.style.setProperty(`--cf-${name}`, value);
    return tokens;
  };

  return {
    tokens: apply(),
    onChange: (listener) => dark.addEventListener('change', () => listener(apply())),
  };
}

/**
 * Returns a CSS color in the browser's serialization, `color(srgb ...)` for every notation, or `''`
 * if it is invalid.
 */
function resolve(css: string): string {
  const probe = document.createElement('i');
  probe.style.color = `color-mix(in srgb, ${css}, ${css})`;
  document.documentElement.append(probe);
  const color = probe.style.color && getComputedStyle(probe).color;
  probe.remove();
  return color;
}
