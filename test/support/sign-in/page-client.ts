import type { TestService } from '../service.js';

/** What a browser shows after it has followed redirects within the service. */
export interface Shown {
  status: number;
  /** Path and query of the page. */
  path: string;
  headers: Headers;
  html: string;
  /** Where it would go on another site: from a redirect, or a page that redirects. */
  leaves: string | undefined;
}

/** A browser without scripts: it keeps the cookies of the service and sends its forms. */
export interface PageClient {
  get(path: string, headers?: Record<string, string>): Promise<Shown>;
  /** Sends the form of the page that was shown last, with its hidden fields. */
  submit(action: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Shown>;
  /** Sends a form of another site, which the cookie is not sent with. */
  crossSitePost(action: string, fields: Record<string, string>): Promise<Shown>;
  /** The cookies of the service, as they are sent. */
  readonly cookies: Map<string, string>;
  /** Everything the service sent, for searches. */
  readonly responses: string[];
}

/** Opens a browser at a service. */
export function pageClient({ app }: Pick<TestService, 'app'>, peer = '192.0.2.9'): PageClient {
  const cookies = new Map<string, string>();
  const responses: string[] = [];
  let csrf = '';

  async function load(path: string, init: RequestInit & { withCookies?: boolean } = {}): Promise<Shown> {
    const { withCookies = true, ...rest } = init;
    const sent = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...Object.fromEntries(new Headers(rest.headers)), ...(withCookies && sent && { cookie: sent }) };
    const env = { incoming: { socket: { remoteAddress: peer } } };
    const response = await app.request(path, { ...rest, headers }, env);
    const html = await response.text();
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
      if (attributes.includes('Max-Age=0')) cookies.delete(name);
      else cookies.set(name, value);
    }
    responses.push(`${JSON.stringify([...response.headers])}\n${html}`);
    const location = response.headers.get('location');
    if (location?.startsWith('/')) return load(location);
    csrf = hidden(html, 'csrf') ?? csrf;
    const refresh = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(html)?.[1];
    return {
      status: response.status,
      path,
      headers: response.headers,
      html,
      leaves: location ?? (refresh === undefined ? undefined : decode(refresh)),
    };
  }

  const form = (fields: Record<string, string>, headers: Record<string, string> = {}): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  });

  return {
    cookies,
    responses,
    get: (path, headers = {}) => load(path, { headers }),
    submit: (action, fields, headers) => load(action, form({ csrf, ...fields }, headers)),
    crossSitePost: (action, fields) => load(action, { ...form(fields), withCookies: false }),
  };
}

/** Returns the value of a hidden field. */
export const hidden = (html: string, name: string): string | undefined => {
  const value = new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1];
  return value === undefined ? undefined : decode(value);
};

/** Returns the text of the first element with this tag. */
export const textOf = (html: string, tag: string): string =>
  decode((new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`).exec(html)?.[1] ?? '').replaceAll(/<[^>]*>/g, '').trim());

/** Returns the access token that a page shows. */
export const tokenIn = (html: string): string => textOf(html, 'textarea');

const decode = (text: string): string =>
  text
    .replaceAll('&amp;', '&')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
