/** Whether a page of this server sent the request: browsers say so, and no page can say it falsely. */
export function isOwnForm(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return request.headers.get('origin') === new URL(request.url).origin;
}

/** The page on this server that the form stood in; `/` when that is not told. */
export function formPlace(request: Request): URL {
  const here = new URL(request.url);
  const from = request.headers.get('referer') ?? '';
  const url = URL.canParse(from) ? new URL(from) : undefined;
  return url?.origin === here.origin ? url : new URL('/', here);
}

/** After a form: the browser asks for the next page with GET. */
export function seeOther(url: URL, cookie: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location: url.href, 'set-cookie': cookie, 'cache-control': 'no-store' },
  });
}
