import { optimize, type CustomPlugin, type XastElement } from 'svgo';
import { contrast, readable, toHex } from './color.js';
import type { ExtractedIcon } from './extract-icon.js';

const LIGHT = '#ffffff';
/** Background of dark pages that contrast is measured against. */
const DARK = '#16181d';
const SHAPES = new Set(['path', 'circle', 'ellipse', 'rect', 'polygon', 'polyline', 'text']);

/**
 * Returns CSS for a color that needs different values on light and dark pages, or undefined if it
 * works on both.
 */
function styleOf(name: string, color: string, single: string | undefined): string | undefined {
  // In a multi-color mark, change only colors that would be invisible; the others are brand colors.
  const light = single !== undefined ? readable(color, LIGHT, '#000000', 3) : color;
  const dark = contrast(color, DARK) < (single === undefined ? 1.6 : 3) ? readable(color, DARK, LIGHT, 5) : color;
  if (light === color && dark === color) return undefined;
  return `.${name}{fill:${light}}@media (prefers-color-scheme:dark){.${name}{fill:${dark}}}`;
}

/**
 * Replaces each color that is not visible on light or dark pages with a class that depends on the
 * color scheme.
 */
const adaptColors = (id: string, single: string | undefined): CustomPlugin => ({
  name: 'adapt-colors',
  fn: (root) => {
    const classes = new Map<string, string | undefined>();
    const styles: string[] = [];

    const paint = (element: XastElement, inherited: string): void => {
      const own = element.attributes['fill'] ?? inherited;
      if (SHAPES.has(element.name)) {
        const color = toHex(own);
        if (color !== undefined && !classes.has(color)) {
          const name = `${id}-${String(classes.size)}`;
          const style = styleOf(name, color, single);
          if (style !== undefined) styles.push(style);
          classes.set(color, style === undefined ? undefined : name);
        }
        const name = color === undefined ? undefined : classes.get(color);
        if (name !== undefined) {
          delete element.attributes['fill'];
          element.attributes['class'] = name;
        } else if (own !== '#000000' && element.attributes['fill'] === undefined && single !== undefined)
          element.attributes['fill'] = own;
      }
      // These elements are not drawn themselves: masks and clip paths use color for other purposes.
      if (['defs', 'mask', 'clipPath'].includes(element.name)) return;
      for (const child of element.children) if (child.type === 'element') paint(child, own);
    };

    for (const svg of root.children) {
      if (svg.type !== 'element') continue;
      paint(svg, single ?? '#000000');
      if (styles.length > 0)
        svg.children.unshift({
          type: 'element',
          name: 'style',
          attributes: {},
          children: [{ type: 'text', value: styles.join('') }],
        });
    }
    return {};
  },
});

/** Makes the view box square by padding it, and removes fixed sizes. */
const square: CustomPlugin = {
  name: 'square',
  fn: () => ({
    element: {
      enter: (element) => {
        if (element.name !== 'svg') return;
        const given = element.attributes['viewBox']?.split(/[\s,]+/).map(Number);
        const [left = 0, top = 0, width = 0, height = 0] = given ?? [
          0,
          0,
          Number.parseFloat(element.attributes['width'] ?? '0'),
          Number.parseFloat(element.attributes['height'] ?? '0'),
        ];
        delete element.attributes['width'];
        delete element.attributes['height'];
        const side = Math.max(width, height);
        const box = [left - (side - width) / 2, top - (side - height) / 2, side, side];
        element.attributes['viewBox'] = box.map((number) => String(Number(number.toFixed(3)))).join(' ');
      },
    },
  }),
};

/**
 * Returns a mark as it is served: minified, square, with prefixed IDs, and with colors that are
 * visible on light and dark pages.
 */
export function finishIcon(id: string, { svg, color }: ExtractedIcon): string {
  const shared = { multipass: true, floatPrecision: 2 };
  const flat = optimize(svg, {
    ...shared,
    plugins: [
      { name: 'preset-default', params: { overrides: { inlineStyles: { onlyMatchedOnce: false } } } },
      'removeTitle',
      'removeStyleElement',
      'convertStyleToAttrs',
      'removeXlink',
      { name: 'removeAttrs', params: { attrs: ['svg:role', 'svg:style', '*:class', '*:data.*'] } },
      { name: 'prefixIds', params: { prefix: `${id}-mark`, delim: '-', prefixClassNames: false } },
    ],
  }).data;
  return optimize(flat, { floatPrecision: 2, plugins: [adaptColors(id, color), square] }).data;
}
