import { deriveTokens, schemeOf } from './derive-tokens.js';
import { readAppearance } from './read-appearance.js';
import type { Tokens } from './tokens.js';

/** The look as it is applied. */
export interface Look {
  readonly tokens: Tokens;
  /** Calls back when the page around the frame has turned light or dark. */
  onChange(listener: (tokens: Tokens) => void): void;
}

/**
 * Reads the host's tokens once and sets the custom properties on the document element, again when the page around the frame turns
 * light or dark. `appearance` may be anything: what is no token of ours is left out.
 */
export function applyAppearance(appearance: unknown, warn: (message: string) => void): Look {
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

/** A color as the browser understands it, in one notation whatever it was written in. */
function resolve(css: string): string {
  const probe = document.createElement('i');
  probe.style.color = `color-mix(in srgb, ${css}, ${css})`;
  document.documentElement.append(probe);
  const color = probe.style.color && getComputedStyle(probe).color;
  probe.remove();
  return color;
}
