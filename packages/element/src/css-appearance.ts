import type { Appearance } from '@connector-frame/core/connect';

const colors = {
  colorPrimary: '--connector-color-primary',
  colorText: '--connector-color-text',
  colorBackground: '--connector-color-background',
  colorBorder: '--connector-color-border',
} as const;

/**
 * Returns the theming tokens that the page's style sheets set on `element`. Values that depend on
 * the page (`color-mix()`, `light-dark()`, `currentcolor`, `calc()`, `1.5em`) are resolved, colors
 * to `rgb()`. Invalid values are passed on; the form reports them.
 */
export function cssAppearance(element: HTMLElement): Appearance {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  const probe = document.createElement('i');
  const compute = (property: 'color' | 'borderTopLeftRadius', css: string): string => {
    probe.style[property] = '';
    probe.style[property] = css;
    return probe.style[property] && getComputedStyle(probe)[property];
  };

  const appearance: Appearance = {};
  (element.shadowRoot ?? element).append(probe);
  for (const token of ['colorPrimary', 'colorText', 'colorBackground', 'colorBorder'] as const) {
    const value = read(colors[token]);
    // Mixing a color with itself converts any notation to `color(srgb ...)`.
    if (value) appearance[token] = toRgb(compute('color', `color-mix(in srgb, ${value}, ${value})`)) ?? value;
  }
  const radius = read('--connector-border-radius');
  if (radius) appearance.borderRadius = compute('borderTopLeftRadius', radius) || radius;
  const family = read('--connector-font-family');
  if (family) appearance.fontFamily = family;
  probe.remove();
  return appearance;
}

/** Converts `color(srgb 0.5 0 1 / 0.5)` to `rgb(128 0 255 / 0.5)`. */
function toRgb(css: string): string | undefined {
  const [, channels, alpha] = /^color\(srgb ([^/)]+?)(?: \/ ([\d.]+))?\)$/.exec(css) ?? [];
  if (!channels) return undefined;
  const numbers = channels
    .split(' ')
    .map((part) => Math.min(255, Math.max(0, Math.round(Number.parseFloat(part) * 255))));
  return `rgb(${numbers.join(' ')}${alpha ? ` / ${alpha}` : ''})`;
}
