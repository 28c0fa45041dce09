import type { Appearance } from '@connector-frame/core/connect';

const colors = {
  colorPrimary: '--connector-color-primary',
  colorText: '--connector-color-text',
  colorBackground: '--connector-color-background',
  colorBorder: '--connector-color-border',
} as const;

/**
 * The tokens that the page's style sheets give to `element`. What only means something in this page (`color-mix()`,
 * `light-dark()`, `calc()`, `1.5em`) is worked out here; what is no value of its kind goes on as it is, and the form says so.
 */
export function cssAppearance(element: HTMLElement): Appearance {
  const style = getComputedStyle(element);
  const given = (name: string): string => style.getPropertyValue(name).trim();
  const probe = document.createElement('i');
  const workOut = (property: 'color' | 'borderTopLeftRadius', value: string): string => {
    probe.style[property] = '';
    probe.style[property] = value;
    return (probe.style[property] && getComputedStyle(probe)[property]) || value;
  };

  const appearance: Appearance = {};
  (element.shadowRoot ?? element).append(probe);
  for (const token of ['colorPrimary', 'colorText', 'colorBackground', 'colorBorder'] as const) {
    const value = given(colors[token]);
    if (value) appearance[token] = workOut('color', value);
  }
  const radius = given('--connector-border-radius');
  if (radius) appearance.borderRadius = workOut('borderTopLeftRadius', radius);
  const family = given('--connector-font-family');
  if (family) appearance.fontFamily = family;
  probe.remove();
  return appearance;
}
