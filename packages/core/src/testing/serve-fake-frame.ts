import type { IncomingMessage } from 'node:http';
import type { HostMessage } from '../protocol/messages.js';
import { htmlOf } from './fake-frame-html.js';
import type { FakeFrameOptions } from './fake-frame-options.js';

export interface FakeFrameServerOptions extends FakeFrameOptions {
  /** Default: a free one. */
  port?: number;
  /** Origins that may embed the form; others get 403, as from the service. Default: all. */
  allowedOrigins?: readonly string[];
}

/** A fake form on an origin of its own. */
export interface FakeFrameServer {
  /** For the option `frameOrigin`. */
  frameOrigin: string;
  /** What pages sent to the form, oldest first. Tokens are in it. */
  received: readonly HostMessage[];
  /** Resolves to the first message of a type, once it is there. */
  waitFor<T extends HostMessage['type']>(type: T): Promise<Extract<HostMessage, { type: T }>>;
  close(): Promise<void>;
}

/** Serves a fake form on `http://localhost`, from Node. */
export async function serveFakeFrame({
  port = 0,
  allowedOrigins,
  ...options
}: FakeFrameServerOptions = {}): Promise<FakeFrameServer> {
  // Not an import, so that browser tests can bundle this package.
  const { createServer } = process.getBuiltinModule('node:http');
  const received: HostMessage[] = [];
  const waiting = new Set<() => void>();

  const keep = async (request: IncomingMessage): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    received.push(JSON.parse(body));
    for (const look of waiting) look();
  };

  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      const end = (status: number) => response.writeHead(status).end();
      void keep(request).then(
        () => end(204),
        () => end(400),
      );
      return;
    }
    const origin = new URL(request.url ?? '/', 'http://localhost').searchParams.get('parentOrigin') ?? '';
    const allowed = !allowedOrigins || allowedOrigins.includes(origin);
    response.writeHead(allowed ? 200 : 403, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `frame-ancestors ${allowed ? '*' : "'none'"}`,
      // Pages that are cross-origin isolated can embed it as well.
      'cross-origin-embedder-policy': 'credentialless',
      'cross-origin-resource-policy': 'cross-origin',
    });
    response.end(allowed ? htmlOf(options, 'received') : 'This origin may not embed the form.');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, 'localhost', resolve);
  });
  const address = server.address();
  const bound = address && typeof address === 'object' ? address.port : port;

  return {
    frameOrigin: `http://localhost:${bound}/embed`,
    received,
    waitFor: (type) =>
      new Promise((resolve) => {
        const look = (): void => {
          const message = received.find((candidate) => isOfType(candidate, type));
          if (!message || !isOfType(message, type)) return;
          waiting.delete(look);
          resolve(message);
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isOfType<T extends HostMessage['type']>(
  message: HostMessage,
  type: T,
): message is Extract<HostMessage, { type: T }> {
  return message.type === type;
}
