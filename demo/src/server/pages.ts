import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { pageHeaders } from './page-headers.js';
import { renderPage, type BuiltPage, type PageParts } from './render-page.js';
import { isPage } from './views/shell.js';
import type { SourceFile } from './views/source-panel.js';

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** Asset names contain a content hash, so responses are immutable. */
const assetHeaders = { 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' };

/**
 * Serves the built pages. Reads all files once, at startup, and serves only those: request paths
 * never reach the file system. Resolves to `undefined` for other paths.
 */
export async function createPages(
  folder: string,
  parts: PageParts,
): Promise<(request: Request) => Promise<Response | undefined>> {
  const headers = pageHeaders(new URL(parts.serviceUrl).origin);
  const sources: Record<string, SourceFile[]> = JSON.parse(await readFile(join(folder, 'sources.json'), 'utf8'));
  const pages = new Map<string, BuiltPage>();
  let rowScript = '';
  const assets = new Map<string, { body: Uint8Array<ArrayBuffer>; headers: Record<string, string> }>();
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = `/${relative(folder, join(file.parentPath, file.name)).split(sep).join('/')}`;
    const name = path.slice(1, -'/index.html'.length);
    const type = types[extname(file.name)];
    if (type) {
      const body = Uint8Array.from(await readFile(join(folder, path)));
      if (/^\/assets\/pipeline-row-[\w-]+\.js$/.test(path)) rowScript = path;
      assets.set(path, { body, headers: { 'content-type': type, ...assetHeaders } });
    } else if (path.endsWith('/index.html') && isPage(name)) {
      const document = await readFile(join(folder, path), 'utf8');
      pages.set(`/${name}/`, { name, document, files: sources[name] ?? [] });
    }
  }

  return async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    if (pathname === '/') return redirect('/script/');
    const asset = assets.get(pathname);
    if (asset) return new Response(asset.body, { headers: asset.headers });
    const page = pages.get(pathname);
    if (page) return new Response(await renderPage(request, page, parts, rowScript), { headers });
    return pages.has(`${pathname}/`) ? redirect(`${pathname}/`) : undefined;
  };
}

function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location } });
}
