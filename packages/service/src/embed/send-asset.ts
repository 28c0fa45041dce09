import type { Context } from 'hono';
import type { Asset } from './form-assets.js';

/** Responds with an asset in the smallest encoding that the client accepts. */
export function sendAsset(c: Context, asset: Asset, headers: Readonly<Record<string, string>>): Response {
  const { encoding, body } = choose(asset, c.req.header('accept-encoding') ?? '');
  return new Response(body, {
    headers: {
      ...headers,
      'Content-Type': asset.contentType,
      ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
    },
  });
}

function choose(asset: Asset, accepted: string): { encoding?: 'br' | 'gzip'; body: Asset['identity'] } {
  if (accepts(accepted, 'br')) return { encoding: 'br', body: asset.br };
  if (accepts(accepted, 'gzip')) return { encoding: 'gzip', body: asset.gzip };
  return { body: asset.identity };
}

/** Returns whether an `Accept-Encoding` header accepts a coding. */
export function accepts(header: string, coding: string): boolean {
  return header.split(',').some((part) => {
    const [name, ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    return name === coding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
