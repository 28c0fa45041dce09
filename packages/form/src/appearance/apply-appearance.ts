import type { Appearance } from '@connector-frame/core/protocol';
import { deriveTokens, schemeOf, type Scheme } from './derive-tokens.js';
import { readAppearance } from './read-appearance.js';
import { TOKEN_NAMES, type Tokens } from './tokens.js';

/**
 * Reads the host's tokens once, sets the custom properties on the document element, and again when the page around the frame
 * turns light or dark. `onTokens` hears them each time, at first at once.
 */
export function applyAppearance(
  appearance: Appearance | undefined,
  { warn, onTokens }: { warn(message: string): void; onTokens(tokens: Tokens): void },
): void {
  const { style } = document.documentElement;
  const given = readAppearance(appearance ?? {}, resolveName, warn);
  const dark = matchMedia('(prefers-color-scheme: dark)');

  const apply = (): void => {
    const page: Scheme = dark.matches ? 'dark' : 'light';
    const scheme = schemeOf(given, page);
    const tokens = deriveTokens(given, scheme);
    if (given.background || scheme !== page) style.colorScheme = scheme;
    for (const name of TOKEN_NAMES) style.setProperty(`--cf-${name}`, tokens[name]);
    onTokens(tokens);
  };
  dark.addEventListener('change', apply);
  apply();
}

/** What the browser makes of a color's name: `rgb(...)`, or `''` when it is none. */
function resolveName(name: string): string {
  const probe = document.createElement('i');
  probe.style.color = name;
  if (!probe.style.color) return '';
  document.documentElement.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
