import type { Appearance } from '@connector-frame/core/connect';

const colors = {
  colorPrimary: '--connector-color-primary',
  colorText: '--connector-color-text',
  colorBackground: '--connector-color-background',
  colorBorder: '--connector-color-border',
} as const;

/**
 * The tokens that the page's style sheets give to `element`. What only means something in this page (`color-mix()`,
 * `light-dark()`, `currentcolor`, `calc()`, `1.5em`) is worked out here, colors to `rgb()`; what is no value of its kind
 * goes on as it is, and the form says so.
 */
export function cssAppearance(element: HTMLElement): Appearance {
  const style = getComputedStyle(element);
  const given = (name: string): string => style.getPropertyValue(name).trim();
  const probe = document.createElement('i');
  const computed = (property: 'color' | 'borderTopLeftRadius', css: string): string => {
    probe.style[property] = '';
    probe.style[property] = css;
    return probe.style[property] && getComputedStyle(probe)[property];
  };

  const appearance: Appearance = {};
  (element.shadowRoot ?? element).append(probe);
  for (const token of ['colorPrimary', 'colorText', 'colorBackground', 'colorBorder'] as const) {
    const value = given(colors[token]);
    // Mixed with itself, a color of any notation is written in one.
    if (value) appearance[token] = rgb(computed('color', `color-mix(in srgb, ${value}, ${value})`)) ?? value;
  }
  const radius = given('--connector-border-radius');
  if (radius) appearance.borderRadius = computed('borderTopLeftRadius', radius) || radius;
  const family = given('--connector-font-family');
  if (family) appearance.fontFamily = family;
  probe.remove();
  return appearance;
}

/** `color(srgb 0.5 0 1 / 0.5)` as `rgb(128 0 255 / 0.5)`. */
function rgb(css: string): string | undefined {
  const [, channels, alpha] = /^color\(srgb ([^/)]+?)(?: \/ ([\d.]+))?\)$/.exec(css) ?? [];
  if (!channels) return undefined;
  const numbers = channels
    .split(' ')
    .map((part) => Math.min(255, Math.max(0, Math.round(Number.parseFloat(part) * 255))));
  return `rgb(${numbers.join(' ')}${alpha ? ` / ${alpha}` : ''})`;
}
