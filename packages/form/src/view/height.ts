/**
 * Reports the height of `element` in CSS pixels when it changes. Nothing in the form depends on the
 * height of the frame, so a report cannot trigger another one. Rounding up prevents flicker from
 * fractional heights.
 */
export function watchHeight(element: HTMLElement, onHeight: (px: number) => void): void {
  let reported = -1;
  let frame = 0;
  new ResizeObserver(() => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      const height = Math.ceil(element.getBoundingClientRect().height);
      if (height !== reported) onHeight((reported = height));
    });
  }).observe(element);
}
