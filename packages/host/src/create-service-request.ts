import type { ServiceRequest } from '@connector-frame/core/connect';
import { maxTries, pause, retryDelay, totalBudget } from './backoff.js';
import { ServiceRequestError } from './service-request-error.js';

export interface ServiceRequestOptions {
  /** Address of the service, with or without a trailing slash. */
  baseUrl: string;
  /** The long-lived key. It stays in this closure: no error, no answer and no log of ours repeats it. */
  apiKey: string;
  /** Stands in for the global `fetch`: logging, proxies, tests. Don't retry in it, this layer does. */
  fetch?: typeof globalThis.fetch;
}

/** Repeating these can't do a thing twice. */
const idempotentMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Milliseconds one try of an idempotent request may take; another kind may use the whole budget, as it can't be repeated. */
const tryTimeout = 10_000;

/**
 * The request function every helper calls the service through: `(path, init) => Promise<unknown>`.
 *
 * Sends JSON with `Authorization: ApiKey`, both overridable by `init.headers`. An empty body yields `undefined`,
 * another is parsed as JSON, anything but a success throws a {@link ServiceRequestError}. Repeats on 429, and for
 * idempotent methods (or with an `Idempotency-Key`) on 502, 503, 504, timeouts and lost connections: 4 tries and
 * 30 seconds in all.
 */
export function createServiceRequest({ baseUrl, apiKey, fetch }: ServiceRequestOptions): ServiceRequest {
  const base = baseUrl.replace(/\/+$/, '');

  return async (path, init = {}) => {
    if (!path.startsWith('/')) throw new TypeError(`path must start with "/", got "${path}"`);
    const headers = new Headers({ 'content-type': 'application/json', authorization: `ApiKey ${apiKey}` });
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    const repeatable = isRepeatable(init, headers);
    const deadline = Date.now() + totalBudget;

    for (let tries = 1; ; tries += 1) {
      const left = deadline - Date.now();
      const mayRepeat = (wait: number) => tries < maxTries && Date.now() + wait < deadline;
      let wait: number;
      try {
        const timeout = repeatable ? Math.min(tryTimeout, left) : left;
        const { response, text } = await once(fetch ?? globalThis.fetch, base + path, { ...init, headers }, timeout);
        if (response.ok) return parse(response, path, text);
        const error = new ServiceRequestError(response, path, text);
        wait = retryDelay(tries, error.retryAfter);
        if (!isTransient(response.status, repeatable) || isStream(init.body) || !mayRepeat(wait)) throw error;
      } catch (error) {
        if (error instanceof ServiceRequestError || init.signal?.aborted) throw error;
        wait = retryDelay(tries, null);
        if (!repeatable || isStream(init.body) || !mayRepeat(wait)) throw error;
      }
      await pause(wait, init.signal);
    }
  };
}

/** One try, body included: a server that stalls in the middle of its answer times out as well. */
async function once(fetch: typeof globalThis.fetch, url: string, init: RequestInit, timeout: number) {
  const clock = new AbortController();
  const timer = setTimeout(() => {
    clock.abort(new DOMException(`No answer within ${Math.round(timeout)} ms`, 'TimeoutError'));
  }, timeout);
  try {
    const signal = init.signal ? AbortSignal.any([init.signal, clock.signal]) : clock.signal;
    const response = await fetch(url, { ...init, signal });
    return { response, text: await response.text() };
  } finally {
    clearTimeout(timer);
  }
}

function parse(response: Response, path: string, text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceRequestError(response, path, text, { cause });
  }
}

function isRepeatable(init: RequestInit, headers: Headers): boolean {
  return idempotentMethods.has((init.method ?? 'GET').toUpperCase()) || headers.has('idempotency-key');
}

/** A 429 means that nothing was done, so every method can be retried. */
function isTransient(status: number, repeatable: boolean): boolean {
  return status === 429 || (repeatable && status >= 502 && status <= 504);
}

function isStream(body: RequestInit['body']): boolean {
  return body instanceof ReadableStream;
}
