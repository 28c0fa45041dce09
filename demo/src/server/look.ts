import { formPlace, isOwnForm, seeOther } from './own-form.js';

/** How the pages look: colors and shapes, and light or dark. */
export interface Look {
  preset: (typeof presets)[number];
  scheme: (typeof schemes)[number];
}

export const presets = ['harbor', 'iris', 'ink'] as const;
export const schemes = ['auto', 'light', 'dark'] as const;

const cookieName = 'northwind_look';

/** What this browser chose; the first of each otherwise. */
export function lookOf(request: Request): Look {
  const [, words = ''] =
    new RegExp(`(?:^|;\\s*)${cookieName}=([\\w.]+)`).exec(request.headers.get('cookie') ?? '') ?? [];
  const chosen = words.split('.');
  return {
    preset: presets.find((preset) => chosen.includes(preset)) ?? presets[0],
    scheme: schemes.find((scheme) => chosen.includes(scheme)) ?? schemes[0],
  };
}

/** `POST /demo/look`, a form with `preset` or `scheme`: remembers it and goes back. `undefined` for other addresses. */
export async function handleLook(request: Request): Promise<Response | undefined> {
  if (new URL(request.url).pathname !== '/demo/look' || request.method !== 'POST') return undefined;
  if (!isOwnForm(request)) return new Response('Only this site’s own pages set their look.', { status: 403 });
  const form = new URLSearchParams(await request.text());
  const now = lookOf(request);
  const preset = presets.find((one) => one === form.get('preset')) ?? now.preset;
  const scheme = schemes.find((one) => one === form.get('scheme')) ?? now.scheme;
  const cookie = `${cookieName}=${preset}.${scheme}; Path=/; Max-Age=31536000; SameSite=Lax`;
  return seeOther(formPlace(request), cookie);
}
