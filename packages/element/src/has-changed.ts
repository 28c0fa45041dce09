/**
 * Frameworks give a new object and a new function on each render. It is kept, as any new value is, but nothing has changed:
 * otherwise a form that failed would be mounted again by each render, and fail again, for ever.
 */
export const isOtherJson = (now: unknown, before: unknown): boolean => JSON.stringify(now) !== JSON.stringify(before);

/** Of two functions nobody can tell whether they do the same. The latest is called. */
export const isOtherPresence = (now: unknown, before: unknown): boolean => Boolean(now) !== Boolean(before);
