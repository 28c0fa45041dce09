import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Certificate } from './certificate.js';
import { listenHttp, type WebListener } from './listener.js';

export interface Received {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The raw body, for binary content. */
  bytes: Buffer;
}

export interface Reply {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: string | object;
  /**
   * Fault to inject instead: `drop` closes without a response, `half` closes after the head and
   * half of the body, `hang` never responds.
   */
  fault?: 'drop' | 'half' | 'hang';
}

export interface Vendor extends WebListener {
  /** Everything received, oldest first. */
  requests: readonly Received[];
}

/** Starts a fake vendor server that responds with `respond` and records all requests. */
export async function startVendor(
  respond: (request: Received) => Reply | Promise<Reply>,
  tls?: Certificate,
): Promise<Vendor> {
  const requests: Received[] = [];
  const listener = await listenHttp(
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const { method = '', url = '', headers: sent } = request;
        const bytes = Buffer.concat(chunks);
        const received = { method, url, headers: sent, body: bytes.toString(), bytes };
        requests.push(received);
        const reply = respond(received);
        if (reply instanceof Promise) void reply.then((late) => send(response, late));
        else send(response, reply);
      });
    },
    '127.0.0.1',
    tls,
  );
  return { ...listener, requests };
}

function send(response: ServerResponse, { status = 200, headers = {}, body = '', fault }: Reply): void {
  if (fault === 'hang') return;
  if (fault === 'drop') {
    response.destroy();
    return;
  }
  const isText = typeof body === 'string';
  const content = isText ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': isText ? 'text/plain' : 'application/json',
    ...headers,
    ...(fault === 'half' && { 'content-length': String(2 * Buffer.byteLength(content) + 2) }),
  });
  if (fault === 'half') response.write(`${content} `, () => response.destroy());
  else response.end(content);
}
