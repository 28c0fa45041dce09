import { formPage, isOwnForm, seeOther } from './own-form.js';

/** Theme of the pages: colors and shapes (`preset`), and light or dark (`scheme`). */
export interface Theme {
  preset: (typeof presets)[number];
  scheme: (typeof schemes)[number];
}

export const presets = ['harbor', 'iris', 'ink'] as const;
export const schemes = ['auto', 'light', 'dark'] as const;

const cookieName = 'northwind_theme';

/** Returns the choice in the browser's cookie. Defaults to the first preset and scheme. */
export function themeOf(request: Request): Theme {
  const [, words = ''] =
    new RegExp(`(?:^|;\\s*)${cookieName}=([\\w.]+)`).exec(request.headers.get('cookie') ?? '') ?? [];
  const chosen = words.split('.');
  return {
    preset: presets.find((preset) => chosen.includes(preset)) ?? presets[0],
    scheme: schemes.find((scheme) => chosen.includes(scheme)) ?? schemes[0],
  };
}

/**
 * Handles `POST /demo/theme`, a form with `preset` or `scheme`: stores the choice in a cookie and
 * redirects back. Resolves to `undefined` for other requests.
 */
export async function handleTheme(request: Request): Promise<Response | undefined> {
  if (new URL(request.url).pathname !== '/demo/theme' || request.method !== 'POST') return undefined;
  if (!isOwnForm(request)) return new Response('Only this site’s own pages set their theme.', { status: 403 });
  const form = new URLSearchParams(await request.text());
  const now = themeOf(request);
  const preset = presets.find((one) => one === form.get('preset')) ?? now.preset;
  const scheme = schemes.find((one) => one === form.get('scheme')) ?? now.scheme;
  const cookie = `${cookieName}=${preset}.${scheme}; Path=/; Max-Age=31536000; SameSite=Lax`;
  return seeOther(formPage(request), cookie);
}
