/**
 * Returns the URL path of an object, or `undefined` if no URL can address it: URL parsing removes
 * `.` and `..` segments, so the request would reach another object, even in another bucket.
 */
export function pathOf(key: string): string | undefined {
  const segments = key.split('/');
  // A lone surrogate has no UTF-8 encoding.
  if (segments.some((segment) => segment === '.' || segment === '..') || /\p{Surrogate}/u.test(key)) return undefined;
  return `/${segments.map(encode).join('/')}`;
}

/** Percent-encodes as signatures require: everything but letters, digits and `-._~`. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
