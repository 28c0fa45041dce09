import { randomBytes } from 'node:crypto';
import type { PollLogin, PollLoginRequest, PollLoginValue } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { addressOf, readAddress } from '../address.js';
import { PollError } from '../poll-error.js';
import { parseXml } from '../xml-body.js';
import { basic, setHeader, type Authentication, type Credentials, type Grant, type GrantResponse } from '../signing.js';
import { addFields, fieldOf, fillAll, fillCredential, type NamedValue } from './credentials.js';
import { computeSteps, momentValues } from './steps.js';
import { hasNone, hostIn, movedTo, renewalTime } from './token.js';

const DEFAULT_LIFETIME_S = 300;
const UNITS = { seconds: 1, minutes: 60, milliseconds: 0.001 };

interface Session {
  values: Map<string, string>;
  cookies: Map<string, string>;
  /** Milliseconds since the epoch. */
  until: number;
  host?: string;
}

/** Signs in by calls of the vendor's own, and carries what they return in each request. */
export function loginAuthentication(method: PollLogin, credentials: Credentials): Authentication {
  const { config, now, vendorNow, subject, base, requester, refused } = credentials;
  // A redirect would be followed without the cookies that it sets.
  const redirect = method.send.cookies === undefined ? {} : { redirect: 'manual' as const };
  let session: Session | undefined;
  /** Whether the vendor has accepted the session. */
  let isAccepted = false;

  async function logIn(signal: AbortSignal): Promise<Session> {
    isAccepted = false;
    const fresh: Session = { values: new Map(), cookies: new Map(), until: 0 };
    return run(method.requests, fresh, signal);
  }

  async function run(requests: readonly PollLoginRequest[], before: Session, signal: AbortSignal): Promise<Session> {
    const next = { ...before, values: new Map(before.values), cookies: new Map(before.cookies) };
    const ofMoment = momentValues({ at: vendorNow(), nonce: randomBytes(32).toString('hex') });
    const named: NamedValue = (name, form) => ofMoment(name, form) ?? next.values.get(name);
    computeSteps(method.steps ?? [], config, named, next.values);
    let last: GrantResponse | undefined;
    for (const request of requests) {
      last = readXml(request, await requester(grantOf(request, next, named), signal));
      readCookies(last.headers, next.cookies);
      for (const [name, value] of Object.entries(request.values ?? {}))
        next.values.set(name, valueIn(last, value, next.cookies));
    }
    const host = last && method.host && hostIn(last.body, method.host, subject);
    return { ...next, until: renewalTime(now(), lifetimeIn(last)), ...(host !== undefined && { host }) };
  }

  function grantOf(request: PollLoginRequest, { cookies }: Session, named: NamedValue): Grant {
    const { url: address, json, form } = request;
    const url =
      typeof address === 'string' && address.startsWith('/')
        ? addressOf(base, { path: address }, { settings: config.settings }, subject)
        : new URL(readAddress(address, { settings: config.settings }, subject));
    const headers = new Headers({ accept: 'application/json' });
    if (cookies.size > 0) headers.set('cookie', cookieHeader(cookies));
    if (request.basic) {
      const { user, password } = request.basic;
      const [name, secret] = [user, password ?? ''].map((each) => fillCredential(each, config, named));
      setHeader(headers, 'authorization', basic(name ?? '', secret ?? ''), fieldOf(password ?? user));
    }
    addFields(request, { url, headers }, config, named);
    const hasBody = json !== undefined || form !== undefined;
    const method = request.method ?? (hasBody ? 'POST' : 'GET');
    if (json !== undefined) {
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      const body = JSON.stringify(mapTexts(json, (text) => fillCredential(text, config, named)));
      return { method, url, headers, body, ...redirect };
    }
    if (form === undefined) return { method, url, headers, ...redirect };
    headers.set('content-type', 'application/x-www-form-urlencoded');
    return { method, url, headers, body: new URLSearchParams(fillAll(form, config, named)).toString(), ...redirect };
  }

  function valueIn(response: GrantResponse, value: PollLoginValue, cookies: ReadonlyMap<string, string>): string {
    const found =
      'cookie' in value
        ? cookies.get(value.cookie)
        : 'header' in value
          ? (response.headers.get(value.header) ?? undefined)
          : textAt(response, value.path);
    if (found !== undefined && found !== '') return found;
    if (value.optional) return '';
    // A page with the login form again has no cookie or header of a session.
    throw 'path' in value ? hasNone(response, refused, subject) : refused();
  }

  /** Returns seconds. */
  function lifetimeIn(response: GrantResponse | undefined): number {
    const { lifetime } = method;
    if (!lifetime || !response) return DEFAULT_LIFETIME_S;
    if ('seconds' in lifetime) return lifetime.seconds;
    const value: unknown = getAt(response.body, lifetime.path);
    const seconds =
      'until' in lifetime
        ? secondsUntil(value, lifetime.until, response.at)
        : Number(value) * UNITS[lifetime.unit ?? 'seconds'];
    return seconds > 0 ? seconds : DEFAULT_LIFETIME_S;
  }

  return {
    async sign(request, signal) {
      if (!session || session.until <= now()) session = await next(session, signal);
      const { values, cookies, host } = session;
      const named = (name: string): string | undefined => values.get(name);
      addFields(method.send, request, config, named, method.send.optional ? '/' : undefined);
      const sent = method.send.cookies;
      const own = sent === 'all' ? cookies : new Map(fillAll(sent, config, named));
      if (own.size > 0) setHeader(request.headers, 'cookie', cookieHeader(own), subject.credential ?? '');
      if (host !== undefined) request.url = movedTo(new URL(host), request.url, base);
    },
    renew({ status, headers }) {
      // Instead of an error, some vendors send the page to log in.
      const isPage = status < 300 && headers.get('content-type')?.startsWith('text/html') === true;
      const isEnded = isPage || status === 401 || method.expired?.includes(status) === true;
      if (!session || !isEnded) {
        isAccepted ||= session !== undefined && status < 300;
        return false;
      }
      session = undefined;
      // A fresh session that is refused means that the credentials are wrong, or may not do this.
      if (isPage && !isAccepted) refused();
      return isAccepted;
    },
    host: () => (session?.host === undefined ? undefined : new URL(session.host)),
  };

  async function next(before: Session | undefined, signal: AbortSignal): Promise<Session> {
    if (!before || !method.refresh) return logIn(signal);
    try {
      return await run([method.refresh], before, signal);
    } catch (error) {
      if (!(error instanceof PollError) || error.kind !== 'permanent') throw error;
      return logIn(signal);
    }
  }
}

function readXml({ format }: PollLoginRequest, response: GrantResponse): GrantResponse {
  if (format !== 'xml') return response;
  try {
    return { ...response, body: parseXml(response.text) };
  } catch {
    return { ...response, body: undefined };
  }
}

function textAt({ body, text }: GrantResponse, path: string): string | undefined {
  const value: unknown = body === undefined ? undefined : getAt(body, path);
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return path === '' ? text.trim() : undefined;
}

function secondsUntil(value: unknown, form: 'rfc3339' | 'seconds' | 'milliseconds', now: number): number {
  const ms = form === 'rfc3339' ? Date.parse(String(value)) : Number(value) * (form === 'seconds' ? 1_000 : 1);
  return (ms - now) / 1_000;
}

/** Notes the cookies of a response (RFC 6265, section 5.2). All go to the vendor's own host. */
function readCookies(headers: Headers, cookies: Map<string, string>): void {
  for (const line of headers.getSetCookie()) {
    const [, name = '', value = ''] = /^\s*([^=;\s]+)\s*=\s*([^;]*)/.exec(line) ?? [];
    if (name === '') continue;
    if (value === '' || /;\s*max-age\s*=\s*(?:0|-\d+)\s*(?:;|$)/i.test(line)) cookies.delete(name);
    else cookies.set(name, value.trim());
  }
}

const cookieHeader = (cookies: ReadonlyMap<string, string>): string =>
  Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ');

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each: unknown) => mapTexts(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]: [string, unknown]) => [key, mapTexts(each, change)]),
  );
}
