import type { ServiceRequest } from '@connector-frame/core/connect';
import { maxTries, pause, retryDelay, totalBudget } from './backoff.js';
import { ServiceRequestError } from './service-request-error.js';

export interface ServiceRequestOptions {
  /** URL of the service, with or without a trailing slash. */
  baseUrl: string;
  /** The long-lived API key. It never appears in an error, a response or a log. */
  apiKey: string;
  /**
   * Replaces the global `fetch`, for logging, proxies or tests. It must not retry; this function
   * does.
   */
  fetch?: typeof globalThis.fetch;
}

/** Idempotent methods, which are safe to retry. */
const idempotentMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/**
 * Timeout of one attempt of an idempotent request in milliseconds. Other requests can't be retried
 * and may use the whole time budget.
 */
const tryTimeout = 10_000;

/**
 * Creates the function that helpers use to call the service: `(path, init) => Promise<unknown>`.
 *
 * Sends JSON with `Authorization: ApiKey`; `init.headers` overrides both. Resolves with the parsed
 * JSON, or with `undefined` for an empty body. Retries on 429, and for idempotent methods (or with
 * an `Idempotency-Key`) on 502, 503, 504, timeouts and lost connections, up to 4 attempts within 30
 * seconds.
 * @throws ServiceRequestError if the final response is not successful
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

/** One attempt, including the body, so that a server that stalls mid-response times out as well. */
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

/** A 429 response means that nothing was done, so any method can be retried. */
function isTransient(status: number, repeatable: boolean): boolean {
  return status === 429 || (repeatable && status >= 502 && status <= 504);
}

function isStream(body: RequestInit['body']): boolean {
  return body instanceof ReadableStream;
}
