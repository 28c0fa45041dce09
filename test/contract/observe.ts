/** Listeners, policy violations and errors of a page and its frames. For `page.evaluate`. */
export interface Observed {
  /** Number of window listeners for messages and policy violations. */
  listeners: number;
  /** Violated directives, each with the blocked URI. */
  violations: string[];
  /** Uncaught errors and unhandled rejections. */
  uncaught: string[];
}

declare global {
  var observed: Observed;
}

// Runs before any other script of the page.
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
