import type { IncomingHttpHeaders } from 'node:http';
import type { Certificate } from './certificate.js';
import { listenHttp, type WebListener } from './listener.js';

export interface Received {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Reply {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: string | object;
}

export interface Vendor extends WebListener {
  /** Everything received, oldest first. */
  requests: readonly Received[];
}

/** A server that stands for a vendor's: answers each request by `respond`, and keeps what it was sent. */
export async function startVendor(respond: (request: Received) => Reply, tls?: Certificate): Promise<Vendor> {
  const requests: Received[] = [];
  const listener = await listenHttp(
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const { method = '', url = '', headers: sent } = request;
        const received = { method, url, headers: sent, body: Buffer.concat(chunks).toString() };
        requests.push(received);
        const { status = 200, headers = {}, body = '' } = respond(received);
        const isText = typeof body === 'string';
        response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
        response.end(isText ? body : JSON.stringify(body));
      });
    },
    '127.0.0.1',
    tls,
  );
  return { ...listener, requests };
}
