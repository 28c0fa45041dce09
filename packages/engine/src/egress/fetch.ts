import { readBody, streamBody, type BodyBounds, type IncomingBody } from './body.js';
import type { EgressInit } from './egress.js';
import { EgressError } from './error.js';
import type { PooledConnection } from './pooled-connection.js';
import type { Target, Pool } from './pool.js';
import { readHeaders, readUrl } from './request.js';

const MAX_BODY = 64 * 1024;
const MAX_REDIRECTS = 3;
/**
 * Limits for draining a discarded body so that its connection can be reused: bytes and
 * milliseconds.
 */
const DRAIN_BYTES = 64 * 1024;
const DRAIN_MS = 1_000;
/** RFC 9110, 9.2.2 */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);
/** Statuses without a body. */
const BODILESS = [204, 205, 304];

/** Signals and timeouts of an exchange, in addition to its `EgressInit`. */
export interface Bounds {
  /** Aborts the exchange, except for a streamed body. */
  signal: AbortSignal;
  /** Maximum milliseconds between two chunks of a streamed body. */
  silenceMs: number;
  /** Aborts a streamed body with its reason. */
  caller: AbortSignal | undefined;
}

interface Exchange extends Bounds, Target, BodyBounds {
  method: string;
  headers: Headers;
  body: string | Uint8Array | undefined;
  mode: 'whole' | 'stream' | 'head';
  /**
   * Whether it may use an idle connection. If that connection turns out to be closed, the request
   * is sent again.
   */
  reuse: boolean;
}

/** Sends a request and returns the response. Follows redirects within the origin. */
export async function exchange(address: string | URL, init: EgressInit, bounds: Bounds, pool: Pool): Promise<Response> {
  const method = (init.method ?? 'GET').toUpperCase();
  let step: Exchange = {
    ...bounds,
    url: readUrl(address),
    verifyTls: init.verifyTls ?? true,
    ca: init.ca,
    method,
    headers: readHeaders(init.headers),
    body: init.body,
    mode: init.discardBody ? 'head' : init.stream ? 'stream' : 'whole',
    maxBytes: init.maxBytes ?? (init.stream ? Infinity : MAX_BODY),
    overflow: init.overflow ?? 'reject',
    reuse: init.repeatable ?? IDEMPOTENT.has(method),
  };
  for (let hop = 0; ; hop += 1) {
    const response = await send(step, pool);
    const location = redirection(response);
    if (location === undefined || init.redirect === 'manual') return response;
    await response.body?.cancel();
    if (hop === MAX_REDIRECTS) throw new EgressError('redirected', `${step.url.origin} redirects too many times`);
    step = redirect(step, response.status, location);
  }
}

function redirection({ status, headers }: { status: number; headers: Headers }): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? (headers.get('location') ?? undefined) : undefined;
}

function redirect(step: Exchange, status: number, location: string): Exchange {
  const url = URL.canParse(location, step.url) ? new URL(location, step.url) : undefined;
  if (url?.origin !== step.url.origin || url.username !== '' || url.password !== '') {
    throw new EgressError('redirected', `${step.url.origin} redirects to another origin`);
  }
  const becomesGet = status === 303 ? step.method !== 'HEAD' : status < 303 && step.method === 'POST';
  // The redirect target is classified again, so it needs a new connection.
  const next = { ...step, url, reuse: false };
  if (!becomesGet) return next;
  const headers = new Headers(step.headers);
  headers.delete('content-type');
  return { ...next, method: 'GET', headers, body: undefined };
}

async function send(step: Exchange, pool: Pool): Promise<Response> {
  const used = step.reuse ? pool.acquire(step) : undefined;
  if (used) {
    const before = used.bytesReceived();
    try {
      return await sendOver(used, step, pool);
    } catch (error) {
      // The server may close an idle connection just as we start to use it. Once response bytes
      // have arrived, it has read the request, so do not resend.
      if (step.signal.aborted || used.bytesReceived() > before) throw error;
    }
  }
  return sendOver(await pool.open(step, step.signal), step, pool);
}

async function sendOver(connection: PooledConnection, step: Exchange, pool: Pool): Promise<Response> {
  const { url, method, headers, body, signal } = step;
  const stop = (): void => connection.end();
  const done = (whole: boolean): void => (whole ? pool.release(connection, step) : connection.end());
  const explain = (error: unknown): EgressError => egressError(error, url);
  signal.addEventListener('abort', stop);
  try {
    const received = await connection.client.request({
      path: url.pathname + url.search,
      method,
      headers: Object.fromEntries(headers),
      ...(body !== undefined && { body }),
    });
    const response = (content: BodyInit | null): Response => toResponse(received.statusCode, received.headers, content);
    if (step.mode === 'head') {
      void drain(received.body, done);
      return response('');
    }
    if (step.mode === 'stream' && !BODILESS.includes(received.statusCode)) {
      const { maxBytes, overflow, silenceMs, caller } = step;
      return response(streamBody(received.body, { maxBytes, overflow, silenceMs, signal: caller, explain, done }));
    }
    const { bytes, whole } = await readBody(received.body, step);
    const result = response(bytes);
    done(whole);
    return result;
  } catch (error) {
    connection.end();
    signal.throwIfAborted();
    throw explain(error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Drains a discarded body within the limits. */
async function drain(body: IncomingBody, done: (whole: boolean) => void): Promise<void> {
  const timer = setTimeout(() => body.destroy(new Error('too slow')), DRAIN_MS);
  let whole = false;
  try {
    ({ whole } = await readBody(body, { maxBytes: DRAIN_BYTES, overflow: 'truncate' }));
  } catch {
    // `whole` stays false.
  }
  clearTimeout(timer);
  done(whole);
}

function toResponse(
  status: number,
  fields: Record<string, string | string[] | undefined>,
  content: BodyInit | null,
): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of [value ?? []].flat()) if (/^[\t\x20-\x7e]*$/.test(each)) headers.append(name, each);
  }
  if (status < 200 || status > 599) throw new EgressError('invalid_answer', `${status} is no HTTP status`);
  return new Response(BODILESS.includes(status) ? null : content, { status, headers });
}

function egressError(error: unknown, url: URL): EgressError {
  if (error instanceof EgressError) return error;
  // https://undici.nodejs.org/#/docs/api/Errors
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'UND_ERR_INVALID_ARG') return new EgressError('invalid_header', 'a request HTTP can not carry');
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || (error instanceof Error && error.name === 'HTTPParserError')) {
    return new EgressError('invalid_answer', `${url.origin} does not speak HTTP`, { cause: error });
  }
  return new EgressError('connect_failed', `the connection to ${url.origin} broke`, { cause: error });
}
