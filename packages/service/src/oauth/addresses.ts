import type { OAuthDefinition } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';

type Settings = Readonly<Record<string, unknown>>;

const PLACEHOLDER = /\{\{(\/settings\/[^{}]+)\}\}/g;

/** Returns the pointers of the settings that are part of an authorization server's addresses. */
export function addressSettings({
  authorization_url,
  token_url,
  refresh_url = '',
  account,
}: OAuthDefinition): string[] {
  const urls = [authorization_url, token_url, refresh_url, account?.from === 'url' ? account.url : ''];
  return [...new Set(urls.flatMap((url) => [...url.matchAll(PLACEHOLDER)].map(([, pointer = '']) => pointer)))];
}

/**
 * Fills the settings into an address of an authorization server.
 * @returns the address, or `undefined` if the vendor has no server there: the settings come from the
 *   customer, and the client's secret is the operator's
 */
export function fillAddress(template: string, settings: Settings, suffixes?: readonly string[]): string | undefined {
  const filled = template.replaceAll(PLACEHOLDER, (_, pointer: string, at: number) => {
    const value: unknown = getAt({ settings }, pointer);
    const text = typeof value === 'string' ? value : '';
    return at === 0 ? text.replace(/\/$/, '') : encodeURIComponent(text);
  });
  const url = URL.canParse(filled) ? new URL(filled) : undefined;
  const isOwn = !suffixes || suffixes.some((suffix) => url?.hostname.endsWith(suffix));
  return url?.protocol === 'https:' && url.port === '' && url.username === '' && isOwn ? filled : undefined;
}
