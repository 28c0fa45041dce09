const LOCAL = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\]|[a-z\d.-]+\.localhost)(:|$)/;
const MOST = 8;
/** Later than this, a person has long begun to type. */
const PATIENCE_MS = 10_000;

/** Whether the form takes style sheets from these addresses: at most 8, of the host page's own origin, https outside localhost. */
export const areAllowed = (urls: readonly string[], parentOrigin: string): boolean =>
  urls.length <= MOST &&
  (parentOrigin.startsWith('https:') || LOCAL.test(parentOrigin)) &&
  urls.every((url) => /^https?:/.test(url) && URL.canParse(url) && new URL(url).origin === parentOrigin);

/**
 * Loads the host's style sheets, all or none. True once they apply; false when one is not allowed, missing or slow, and then none of
 * them is left in the page.
 */
export async function loadStylesheets(urls: readonly string[], parentOrigin: string): Promise<boolean> {
  if (!areAllowed(urls, parentOrigin)) return false;
  const links = urls.map((href) => {
    // Fetched at once, applied together with the others.
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
