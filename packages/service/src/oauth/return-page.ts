import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { Outcome } from './consents.js';

/**
 * The script of the page. It tells the form that the window is done, and nothing else: the form asks
 * the service how it ended. The address still contains the code, which was redeemed.
 */
const script = `history.replaceState(null,"",location.pathname);opener?.postMessage({source:"connector-frame-consent"},location.origin);close()`;
const style = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:24rem;padding:0 1rem}h1{font-size:1.25rem}`;
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The opener must stay reachable, so the page does not isolate itself from it. */
export const returnPageHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'unsafe-none',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const texts: Readonly<Record<Outcome, readonly [title: string, text: string]>> = {
  granted: ['Account connected', 'You can close this window and continue in the form.'],
  cancelled: ['Not connected', 'You can close this window. The form lets you try again.'],
  failed: ['Not connected', 'The account could not be connected. Close this window and try again in the form.'],
  expired: ['This page has expired', 'Close this window and start again in the form.'],
};

/** Returns the page that a vendor sends the browser back to. Nothing of the request is in it. */
export async function returnPage(outcome: Outcome): Promise<string> {
  const [title, text] = texts[outcome];
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${raw(`<style>${style}</style>`)}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p>${text}</p>
        </main>
        ${raw(`<script>${script}</script>`)}
      </body>
    </html>`;
  return String(await document);
}
