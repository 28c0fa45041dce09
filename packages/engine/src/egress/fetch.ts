import type { Socket } from 'node:net';
import { Client, errors, type buildConnector } from 'undici';
import type { EgressInit } from './egress.js';
import { EgressError } from './error.js';

const MAX_BODY = 64 * 1024;
const MAX_REDIRECTS = 3;
/** Ours to set: they frame the message or name its receiver. */
const RESERVED = /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect)$/;

/** A connected socket to the origin of `url`, with TLS on it when the scheme asks for it. */
export type OpenOrigin = (url: URL) => Promise<Socket>;

interface Exchange {
  url: URL;
  method: string;
  headers: Headers;
  body: string | Uint8Array | undefined;
  signal: AbortSignal;
  discardBody: boolean;
}

/** One request and its answer, following redirects within the origin. */
export async function exchange(
  address: string | URL,
  init: EgressInit,
  signal: AbortSignal,
  open: OpenOrigin,
): Promise<Response> {
  let step: Exchange = {
    url: readUrl(address),
    method: (init.method ?? 'GET').toUpperCase(),
    headers: readHeaders(init.headers),
    body: init.body,
    signal,
    discardBody: init.discardBody ?? false,
  };
  for (let hop = 0; ; hop += 1) {
    const response = await send(step, open);
    const location = response.headers.get('location');
    if (location === null || ![301, 302, 303, 307, 308].includes(response.status)) return response;
    if (hop === MAX_REDIRECTS) throw new EgressError('redirected', `${step.url.origin} redirects in circles`);
    step = redirect(step, response.status, location);
  }
}

function readUrl(address: string | URL): URL {
  if (!URL.canParse(address)) throw new EgressError('invalid_address', 'not a URL');
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new EgressError('invalid_address', `${url.protocol} is neither http nor https`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new EgressError('invalid_address', 'the URL holds a user name or password');
  }
  return url;
}

/** Whether HTTP can carry this header, and it is not one of ours to set. */
export function isSendable(name: string, value: string): boolean {
  if (RESERVED.test(name.toLowerCase())) return false;
  try {
    new Headers().set(name, value);
    return true;
  } catch {
    return false;
  }
}

function readHeaders(init: EgressInit['headers']): Headers {
  let headers: Headers;
  try {
    headers = new Headers(init);
  } catch {
    // No cause: the original message quotes the value, which may be a secret.
    throw new EgressError('invalid_header', 'a header HTTP can not carry');
  }
  const reserved = [...headers.keys()].find((name) => RESERVED.test(name));
  if (reserved !== undefined) throw new EgressError('invalid_header', `the header ${reserved} can not be set`);
  if (!headers.has('user-agent')) headers.set('user-agent', 'connector-frame');
  // Bytes are bounded as they arrive, so nothing may grow after that.
  headers.set('accept-encoding', 'identity');
  return headers;
}

function redirect(step: Exchange, status: number, location: string): Exchange {
  const url = URL.canParse(location, step.url) ? new URL(location, step.url) : undefined;
  if (url?.origin !== step.url.origin || url.username !== '' || url.password !== '') {
    throw new EgressError('redirected', `${step.url.origin} redirects to another origin`);
  }
  const becomesGet = status === 303 ? step.method !== 'HEAD' : status < 303 && step.method === 'POST';
  if (!becomesGet) return { ...step, url };
  const headers = new Headers(step.headers);
  headers.delete('content-type');
  return { ...step, url, method: 'GET', headers, body: undefined };
}

async function send(
  { url, method, headers, body, signal, discardBody }: Exchange,
  open: OpenOrigin,
): Promise<Response> {
  let opened = false;
  const client = new Client(url.origin, {
    // One connection for one request; a client that wants another one would repeat what was sent.
    connect: (_target, callback) => {
      const socket = opened ? Promise.reject(new EgressError('connect_failed', 'connection lost')) : open(url);
      opened = true;
      void handOver(socket, callback);
    },
    pipelining: 0,
    maxHeaderSize: 16 * 1024,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const answer = await client.request({
      path: url.pathname + url.search,
      method,
      headers: Object.fromEntries(headers),
      signal,
      ...(body !== undefined && { body }),
    });
    if (discardBody) answer.body.on('error', () => undefined);
    const bytes = discardBody ? undefined : await readBody(answer.body);
    return toResponse(answer.statusCode, answer.headers, bytes);
  } catch (error) {
    signal.throwIfAborted();
    throw egressError(error, url);
  } finally {
    client.destroy().catch(() => undefined);
  }
}

async function handOver(opening: Promise<Socket>, callback: buildConnector.Callback): Promise<void> {
  let socket: Socket;
  try {
    socket = await opening;
  } catch (error) {
    callback(error instanceof Error ? error : new Error('stopped'), null);
    return;
  }
  callback(null, socket);
}

async function readBody(body: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_BODY) throw new EgressError('too_large', `the answer is longer than ${MAX_BODY} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toResponse(
  status: number,
  fields: Record<string, string | string[] | undefined>,
  bytes: Uint8Array<ArrayBuffer> | undefined,
): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of [value ?? []].flat()) if (/^[\t\x20-\x7e]*$/.test(each)) headers.append(name, each);
  }
  if (status < 200 || status > 599) throw new EgressError('invalid_answer', `${status} is no HTTP status`);
  return new Response([204, 205, 304].includes(status) ? null : bytes, { status, headers });
}

function egressError(error: unknown, url: URL): EgressError {
  if (error instanceof EgressError) return error;
  if (error instanceof errors.InvalidArgumentError)
    return new EgressError('invalid_header', 'a request HTTP can not carry');
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
    return new EgressError('invalid_answer', `${url.origin} does not speak HTTP`, { cause: error });
  }
  return new EgressError('connect_failed', `the connection to ${url.origin} broke`, { cause: error });
}
