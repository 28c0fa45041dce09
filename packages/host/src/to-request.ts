import type { IncomingMessage } from 'node:http';

/** Headers that describe the transmitted bytes and don't apply to a parsed body. */
const wireHeaders = ['content-length', 'content-encoding', 'transfer-encoding'];

/**
 * Returns the requested path and query. Express keeps them in `originalUrl` when a router strips
 * its prefix.
 */
export function addressOf(message: IncomingMessage): string {
  const original: unknown = 'originalUrl' in message ? message.originalUrl : undefined;
  return typeof original === 'string' ? original : (message.url ?? '/');
}

/**
 * Converts an incoming message to a fetch `Request`. The body is read on demand.
 * @param body the parsed body, if a body parser has already read it; default: `message.body`
 * @throws TypeError if the URL or method is invalid
 */
export function toRequest(message: IncomingMessage, body: unknown = parsedBody(message)): Request {
  const protocol = 'encrypted' in message.socket ? 'https' : 'http';
  const url = new URL(`${protocol}://${message.headers.host ?? 'localhost'}${addressOf(message)}`);
  const method = message.method ?? 'GET';
  const headers = headersOf(message);
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers });
  if (body === undefined || body === null) {
    // `duplex` is required for streams, and absent from the types of the DOM library.
    const init: RequestInit & { duplex: 'half' } = { method, headers, body: streamOf(message), duplex: 'half' };
    return new Request(url, init);
  }
  for (const name of wireHeaders) headers.delete(name);
  return new Request(url, { method, headers, body: serialize(body) });
}

function parsedBody(message: IncomingMessage): unknown {
  return 'body' in message ? message.body : undefined;
}

/** Body parsers produce text, bytes or parsed JSON. */
function serialize(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body);
}

function headersOf(message: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) {
    if (name.startsWith(':') || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  return headers;
}

/**
 * Reads chunks on demand. A reader that stops early keeps the connection open, so that the response
 * can still be sent.
 */
function streamOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = message.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
