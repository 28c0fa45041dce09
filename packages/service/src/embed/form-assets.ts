import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { compressed } from './compressed-files.js';

/** One file of the built form, in each encoding that is served. */
export interface Asset {
  contentType: string;
  identity: Uint8Array<ArrayBuffer>;
  gzip: Uint8Array<ArrayBuffer>;
  br: Uint8Array<ArrayBuffer>;
}

/** The built form, held in memory. */
export interface FormAssets {
  /** The page, with its list of API base URLs still empty. */
  html: string;
  /** Sources for `script-src`: the hash of each inline script, `'sha256-...'`. */
  scriptHashes: string[];
  /** Sources for `style-src`: the hash of each inline sheet. */
  styleHashes: string[];
  /** By name: `form-3f2a.js`. Names contain a hash, so the content of a name never changes. */
  files: ReadonlyMap<string, Asset>;
}

const contentTypes: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
};

/**
 * Reads a built form: `index.html`, and `assets/` beside it.
 * @throws Error if `index.html` is missing, because the form is not built
 */
export async function loadFormAssets(folder: string): Promise<FormAssets> {
  const html = await readFile(join(folder, 'index.html'), 'utf8').catch(() => {
    throw new Error(`The form is not built: ${join(folder, 'index.html')} is missing. Run "npm run build" first.`);
  });
  const names = (await readdir(join(folder, 'assets'))).filter((name) => extname(name) in contentTypes);
  const files = await Promise.all(
    names.map(async (name) => {
      const content = await readFile(join(folder, 'assets', name));
      return [name, pack(content, contentTypes[extname(name)] ?? 'application/octet-stream')] as const;
    }),
  );
  return {
    html,
    scriptHashes: inlineScripts(html).map(hashSource),
    styleHashes: inlineStyles(html).map(hashSource),
    files: new Map(files),
  };
}

/** Has each encoding at startup, so that no request waits for compression. */
export function pack(content: Buffer, contentType: string): Asset {
  return {
    contentType,
    identity: new Uint8Array(content),
    gzip: compressed(content, 'gzip'),
    br: compressed(content, 'br'),
  };
}

/**
 * Returns the contents of executable inline scripts. A data block (`type="application/json"`) needs
 * no CSP hash.
 */
function inlineScripts(html: string): string[] {
  return [...html.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/gi)]
    .filter(([, attributes = '']) => !/\bsrc\s*=|\btype\s*=\s*"application\/json"/i.test(attributes))
    .map(([, , content = '']) => content);
}

const inlineStyles = (html: string): string[] =>
  [...html.matchAll(/<style\b[^>]*>([\s\S]*?)<\/style>/gi)].map(([, content = '']) => content);

const hashSource = (script: string): string => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
