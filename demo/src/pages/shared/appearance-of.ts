import type { Appearance } from '@connector-frame/core/connect';

/**
 * The tokens that make a form look like a part of `element`: its own computed colors, its font, and the page's radius
 * for controls. Read when the form is mounted, as that is when the form reads them.
 */
export function appearanceOf(element: Element): Appearance {
  const style = getComputedStyle(element);
  return {
    colorPrimary: style.accentColor,
    colorText: style.color,
    colorBackground: style.backgroundColor,
    colorBorder: style.borderTopColor,
    fontFamily: style.fontFamily,
    borderRadius: style.getPropertyValue('--radius').trim(),
  };
}
