/** Returns the target of `rel="next"` in a `Link` header (RFC 8288), or `''`. */
export function nextLink(header: string): string {
  for (const [, target = '', parameters = ''] of header.matchAll(/<([^<>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\s*(?:[;,]|$))/i.test(parameters)) return target;
  return '';
}

/**
 * Escapes the `+` that some vendors leave in the query of a link: at the end of a value, where a
 * space makes no sense, and before the offset of a time zone.
 */
export function escapePlus(link: string): string {
  const at = link.indexOf('?');
  if (at === -1) return link;
  const query = link
    .slice(at)
    .replaceAll(/\++(?=[&#]|$)/g, (all) => '%2B'.repeat(all.length))
    .replaceAll(/(T\d\d(?::|%3A)\d\d(?:(?::|%3A)\d\d(?:\.\d+)?)?)\+(?=\d\d(?::|%3A)?\d\d(?:[&#]|$))/gi, '$1%2B');
  return link.slice(0, at) + query;
}

/** Returns a query parameter, whatever the letter case of its name. */
export function parameterOf(url: URL, name: string): string | undefined {
  const exact = url.searchParams.get(name);
  if (exact !== null) return exact;
  const found = [...url.searchParams].find(([each]) => each.toLowerCase() === name.toLowerCase());
  return found?.[1];
}
