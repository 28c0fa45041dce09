const focusable = 'input, select, textarea, summary, cf-secret, button:enabled:not([tabindex="-1"])';

/** Returns the element id of a path: of its control, or of the group or row around its controls. */
export function idOf(path: string): string {
  return `cf${path}`;
}

/** Opens the `<details>` that hides a path, and returns the path's element. */
export function unfold(path: string): HTMLElement | null {
  const element = document.getElementById(idOf(path));
  const fold = element?.closest('details');
  if (fold) fold.open = true;
  return element;
}

/** Moves focus to a path's control; in a group, to the first one that `within` selects. */
export function focusPath(path: string, within = focusable): void {
  const element = unfold(path);
  (element?.matches(focusable) ? element : element?.querySelector<HTMLElement>(within))?.focus();
}

/** Like `focusPath`, after the current change has been rendered. */
export function focusPathSoon(path: string, within?: string): void {
  queueMicrotask(() => focusPath(path, within));
}
