const focusable = 'input, select, textarea, summary, cf-secret, button:enabled:not([tabindex="-1"])';

/** The element of a path: its control, or the group or row that holds its controls. */
export function idOf(path: string): string {
  return `cf${path}`;
}

/** Opens the fold that hides a path, and answers the path's element. */
export function unfold(path: string): HTMLElement | null {
  const element = document.getElementById(idOf(path));
  const fold = element?.closest('details');
  if (fold) fold.open = true;
  return element;
}

/** Moves focus to a path's control; in a group, to its first one, or to the first that `within` selects. */
export function focusPath(path: string, within = focusable): void {
  const element = unfold(path);
  (element?.matches(focusable) ? element : element?.querySelector<HTMLElement>(within))?.focus();
}

/** The same, once the change that was just made has been painted. */
export function focusPathSoon(path: string, within?: string): void {
  queueMicrotask(() => focusPath(path, within));
}
