/**
 * Reports the height of `element` when it changes. The width decides the height and never the other way round (nothing in the
 * form is sized by the frame's height), so the report can't feed itself; rounding up keeps fractions from flickering.
 */
export function watchHeight(element: HTMLElement, onHeight: (px: number) => void): void {
  let told = -1;
  let frame = 0;
  new ResizeObserver(() => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      const height = Math.ceil(element.getBoundingClientRect().height);
      if (height !== told) onHeight((told = height));
    });
  }).observe(element);
}
