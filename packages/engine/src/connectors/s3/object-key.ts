/**
 * The path of an object's address. `undefined`: no URL can name it, since a path drops `.` and `..`, and what is left would
 * be another object, in another bucket even.
 */
export function pathOf(key: string): string | undefined {
  const segments = key.split('/');
  // Half a character has no bytes.
  if (segments.some((segment) => segment === '.' || segment === '..') || /\p{Surrogate}/u.test(key)) return undefined;
  return `/${segments.map(encode).join('/')}`;
}

/** As signatures have it: everything but letters, digits and `-._~`. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
