import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** Where the form and its marks come from: the page's policy names them, and nothing else. */
export interface PageOrigins {
  form: string;
  icons: string;
}

/**
 * Serves the built pages. They are read once, and only what was found is ever served: a path from outside reaches no disk.
 * Answers `undefined` for addresses that are no page.
 */
export async function createPages(
  folder: string,
  origins: PageOrigins,
): Promise<(request: Request) => Response | undefined> {
  const headers = pageHeaders(origins);
  const pages = new Map<string, { body: Uint8Array<ArrayBuffer>; headers: Record<string, string> }>();
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(file.name)];
    if (!file.isFile() || !type) continue;
    const path = `/${relative(folder, join(file.parentPath, file.name)).split(sep).join('/')}`;
    const body = Uint8Array.from(await readFile(join(folder, path)));
    const isPage = path.endsWith('/index.html');
    pages.set(isPage ? path.slice(0, -'index.html'.length) : path, {
      body,
      headers: { 'content-type': type, 'x-content-type-options': 'nosniff', ...(isPage ? headers : assetHeaders) },
    });
  }

  return (request) => {
    const { pathname } = new URL(request.url);
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    if (pathname === '/') return redirect('/html/');
    const page = pages.get(pathname);
    if (page) return new Response(page.body, { headers: page.headers });
    return pages.has(`${pathname}/`) ? redirect(`${pathname}/`) : undefined;
  };
}

/** Their names hold a hash of what is in them. */
const assetHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };

/** A host page needs `frame-src` for the form; the rest is what a careful product sends anyway. */
function pageHeaders({ form, icons }: PageOrigins): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' ${icons} data:`,
    "connect-src 'self'",
    `frame-src ${form}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-cache',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  };
}

function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location } });
}
