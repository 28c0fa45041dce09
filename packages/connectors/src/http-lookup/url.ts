/** Longer keys are not looked up: many servers refuse longer URLs. */
const MAX_KEY = 2_000;
const PLACEHOLDER = '{key}';

/**
 * Puts a key into the URL of a configuration, encoded. Returns `undefined` if the result would not
 * address the key: a segment `.` or `..` would lead to another resource.
 * @param template has `{key}` once, in its path or query
 */
export function urlOf(template: string, key: string): string | undefined {
  if (key.length > MAX_KEY) return undefined;
  const encoded = encode(key);
  if (encoded === undefined) return undefined;
  const url = template.replace(PLACEHOLDER, () => encoded);
  const [path = ''] = url.split('?');
  return path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)) ? undefined : url;
}

/** Half of a surrogate pair can't be encoded. */
function encode(key: string): string | undefined {
  try {
    return encodeURIComponent(key);
  } catch {
    return undefined;
  }
}
