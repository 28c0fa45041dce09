const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\]|[a-z\d.-]+\.localhost)$/;
const MOST = 8;
/** Later than this, a person has long begun to type. */
const PATIENCE_MS = 10_000;

/** Whether the form takes style sheets from these addresses: at most 8, of the host page's own origin, https outside localhost. */
export function areAllowed(urls: readonly string[], parentOrigin: string): boolean {
  return (
    urls.length <= MOST &&
    urls.every((text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOCAL.test(url.hostname));
      return safe && url?.origin === parentOrigin;
    })
  );
}

function load(href: string): { link: HTMLLinkElement; loaded: Promise<void> } {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  // Fetched at once, applied together with the others.
  link.media = 'not all';
  link.referrerPolicy = 'no-referrer';
  const loaded = new Promise<void>((resolve, reject) => {
    link.addEventListener('load', () => resolve());
    link.addEventListener('error', () => reject(new Error('stylesheet')));
    setTimeout(() => reject(new Error('stylesheet')), PATIENCE_MS);
  });
  link.href = href;
  return { link, loaded };
}

/**
 * Loads the host's style sheets, all or none. Resolves to true once they apply; false when one is not allowed, missing or slow, and
 * then none of them is left in the page.
 */
export async function loadStylesheets(urls: readonly string[], parentOrigin: string): Promise<boolean> {
  if (!areAllowed(urls, parentOrigin)) return false;
  const sheets = urls.map(load);
  document.head.append(...sheets.map(({ link }) => link));
  try {
    await Promise.all(sheets.map(({ loaded }) => loaded));
    for (const { link } of sheets) link.media = 'all';
    return true;
  } catch {
    for (const { link } of sheets) link.remove();
    return false;
  }
}
