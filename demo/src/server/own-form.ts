/**
 * Returns whether a page of this server sent the request. Browsers set `Sec-Fetch-Site` and
 * `Origin`; pages can't forge them.
 */
export function isOwnForm(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return request.headers.get('origin') === new URL(request.url).origin;
}

/** Returns the page of this server that submitted the form, from `Referer`. Falls back to `/`. */
export function formPage(request: Request): URL {
  const here = new URL(request.url);
  const from = request.headers.get('referer') ?? '';
  const url = URL.canParse(from) ? new URL(from) : undefined;
  return url?.origin === here.origin ? url : new URL('/', here);
}

/** Redirects after a form submission. The browser requests the target with GET. */
export function seeOther(url: URL, cookie: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location: url.href, 'set-cookie': cookie, 'cache-control': 'no-store' },
  });
}
