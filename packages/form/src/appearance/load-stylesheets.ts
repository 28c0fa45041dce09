const LOCAL = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\]|[a-z\d.-]+\.localhost)(:|$)/;
const MOST = 8;
/** Load timeout in milliseconds. After this, the user has probably started to type. */
const PATIENCE_MS = 10_000;

/**
 * Returns whether the form accepts these style sheets: at most 8, all from the host page's origin,
 * and over https except on localhost.
 */
export const areAllowed = (urls: readonly string[], parentOrigin: string): boolean =>
  urls.length <= MOST &&
  (parentOrigin.startsWith('https:') || LOCAL.test(parentOrigin)) &&
  urls.every((url) => /^https?:/.test(url) && URL.canParse(url) && new URL(url).origin === parentOrigin);

/**
 * Loads the host's style sheets, all or none. Resolves with true once all of them apply. Resolves
 * with false, and removes all of them, if one is not allowed, fails to load or times out.
 */
export async function loadStylesheets(urls: readonly string[], parentOrigin: string): Promise<boolean> {
  if (!areAllowed(urls, parentOrigin)) return false;
  const links = urls.map((href) => {
    // A non-matching `media` downloads the sheet without applying it; all are enabled together.
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', media: 'not all', href });
    document.head.append(link);
    return link;
  });
  const loads = links.map(
    (link) =>
      new Promise<boolean>((resolve) => {
        link.addEventListener('load', () => resolve(true));
        link.addEventListener('error', () => resolve(false));
        setTimeout(() => resolve(false), PATIENCE_MS);
      }),
  );
  const all = (await Promise.all(loads)).every(Boolean);
  for (const link of links) {
    if (all) link.media = 'all';
    else link.remove();
  }
  return all;
}
