import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { style } from './style.js';

/** HTML whose inserted values are escaped. */
export type Html = ReturnType<typeof html>;

export { html, raw };

const styleHash = createHash('sha256').update(style).digest('base64');

/** No script runs in these pages, they load nothing, and no other page can frame them. */
export const pageHeaders = (): Record<string, string> => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  // With `no-referrer`, browsers would send `Origin: null` with forms.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
});

/** A page of the sign-in. */
export interface Page {
  title: string;
  body: Html | Promise<Html>;
  /** Elements of the head. */
  head?: Html | Promise<Html>;
}

/** Returns the document of a page. */
export async function render({ title, body, head }: Page): Promise<string> {
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        ${raw(`<style>${style}</style>`)} ${head ?? ''}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`;
  return String(await document);
}
