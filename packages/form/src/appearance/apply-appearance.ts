import type { Appearance } from '@connector-frame/core/protocol';
import { deriveTokens, schemeOf } from './derive-tokens.js';
import { readAppearance } from './read-appearance.js';
import type { Tokens } from './tokens.js';

/**
 * Reads the host's tokens once, sets the custom properties on the document element, and again when the page around the frame
 * turns light or dark. `onTokens` hears them each time, at first at once.
 */
export function applyAppearance(
  appearance: Appearance = {},
  warn: (message: string) => void,
  onTokens: (tokens: Tokens) => void,
): void {
  const root = document.documentElement;
  const given = readAppearance(appearance, resolve, warn);
  const dark = matchMedia('(prefers-color-scheme: dark)');

  const apply = (): void => {
    const page = dark.matches ? 'dark' : 'light';
    const scheme = schemeOf(given, page);
    const tokens = deriveTokens(given, scheme);
    if (given.background || scheme !== page) root.style.colorScheme = scheme;
    for (const [name, value] of Object.entries(tokens)) root.style.setProperty(`--cf-${name}`, value);
    onTokens(tokens);
  };
  dark.addEventListener('change', apply);
  apply();
}

/** A color as the browser understands it, in one notation whatever it was written in. */
function resolve(css: string): string {
  const probe = document.createElement('i');
  probe.style.color = `color-mix(in srgb, ${css}, ${css})`;
  document.documentElement.append(probe);
  const color = probe.style.color && getComputedStyle(probe).color;
  probe.remove();
  return color;
}
