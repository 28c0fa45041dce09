/**
 * Compares JSON. Frameworks pass a new object on each render; if that counted as a change, a form
 * that failed would be mounted again by each render. The new object is stored either way.
 */
export const hasOtherJson = (value: unknown, old: unknown): boolean => JSON.stringify(value) !== JSON.stringify(old);

/** Functions can't be compared. The latest one is called. */
export const hasOtherPresence = (value: unknown, old: unknown): boolean => Boolean(value) !== Boolean(old);
