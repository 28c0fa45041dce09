import type { IncomingMessage } from 'node:http';
import type { HostMessage } from '../protocol/messages.js';
import { htmlOf } from './fake-frame-html.js';
import type { FakeFrameOptions } from './fake-frame-options.js';

/** Options of `serveFakeFrame`. */
export interface FakeFrameServerOptions extends FakeFrameOptions {
  /** Default: a free port. */
  port?: number;
  /** Origins that can embed the form; others receive 403, as from the service. Default: all. */
  allowedOrigins?: readonly string[];
}

/** A server of a fake form. */
export interface FakeFrameServer {
  /** Value for the option `frameOrigin`. */
  frameOrigin: string;
  /** Messages that pages have sent to the form, oldest first. They contain tokens. */
  received: readonly HostMessage[];
  /** Waits for a message of a type, and resolves to the first one. */
  waitFor<T extends HostMessage['type']>(type: T): Promise<Extract<HostMessage, { type: T }>>;
  close(): Promise<void>;
}

/**
 * Serves a fake form on `http://localhost`, from Node.
 *
 * @example
 * ```ts
 * const fake = await serveFakeFrame({ allowedOrigins: ['http://localhost:3000'] });
 * // Mount with `frameOrigin: fake.frameOrigin`.
 * const { typeId } = await fake.waitFor('init');
 * await fake.close();
 * ```
 */
export async function serveFakeFrame({
  port = 0,
  allowedOrigins,
  ...options
}: FakeFrameServerOptions = {}): Promise<FakeFrameServer> {
  // An import would prevent browser tests from bundling this package.
  const { createServer } = process.getBuiltinModule('node:http');
  const received: HostMessage[] = [];
  const waiting = new Set<() => void>();

  const record = async (request: IncomingMessage): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    received.push(JSON.parse(body));
    for (const check of waiting) check();
  };

  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      const end = (status: number) => response.writeHead(status).end();
      void record(request).then(
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
      // Allows cross-origin isolated pages to embed it.
      'cross-origin-embedder-policy': 'credentialless',
      'cross-origin-resource-policy': 'cross-origin',
    });
    response.end(allowed ? htmlOf(options, 'received') : 'This origin is not allowed to embed the form.');
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
        const check = (): void => {
          const message = received.find((candidate) => isOfType(candidate, type));
          if (!message || !isOfType(message, type)) return;
          waiting.delete(check);
          resolve(message);
        };
        waiting.add(check);
        check();
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
