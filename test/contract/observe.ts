/** What a page and its frames leave behind, or complain about. For `page.evaluate`. */
export interface Observed {
  /** Listeners on the window for messages and for violations of the policy. */
  listeners: number;
  /** Directives that were violated. */
  violations: string[];
  /** Errors that nobody caught. */
  uncaught: string[];
}

declare global {
  var observed: Observed;
}

// Runs before everything else of the page.
const observed: Observed = (globalThis.observed = { listeners: 0, violations: [], uncaught: [] });
addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
  observed.violations.push(`${effectiveDirective} ${blockedURI}`),
);
addEventListener('error', ({ message }) => observed.uncaught.push(message));
addEventListener('unhandledrejection', ({ reason }) => observed.uncaught.push(String(reason)));

const listeners = new Set<unknown>();
const isWatched = (type: string): boolean => type === 'message' || type === 'securitypolicyviolation';
const add = globalThis.addEventListener;
const remove = globalThis.removeEventListener;
globalThis.addEventListener = function (...given: Parameters<typeof add>) {
  if (isWatched(given[0])) observed.listeners = listeners.add(given[1]).size;
  add.apply(globalThis, given);
};
globalThis.removeEventListener = function (...given: Parameters<typeof remove>) {
  if (isWatched(given[0])) listeners.delete(given[1]);
  observed.listeners = listeners.size;
  remove.apply(globalThis, given);
};
