import { createServer, type RequestListener, type Server } from 'node:http';

/** An HTTP server on an open port. */
export interface HttpListener {
  readonly port: number;
  /** Passes requests to `handle` from now on. Until then, requests get 503 with `Retry-After`. */
  serve(handle: RequestListener): void;
  /**
   * Stops accepting connections. Resolves when the requests in flight are complete, or cut off
   * after `timeouts.shutdown`.
   */
  drain(): Promise<void>;
}

/** Timeouts, in milliseconds. */
export interface Timeouts {
  /** For receiving the headers of a request. Clients that exceed it are disconnected. */
  headers: number;
  /** For receiving a whole request. */
  request: number;
  /** For requests in flight when the port closes. */
  shutdown: number;
}

const defaultTimeouts: Timeouts = { headers: 10_000, request: 30_000, shutdown: 10_000 };

/**
 * Opens a port and listens.
 * @throws Error naming the variable to set if the port is in use
 */
export async function openListener(port: number, host: string, timeouts = defaultTimeouts): Promise<HttpListener> {
  let handle = unavailable;
  const http = createServer(
    {
      headersTimeout: timeouts.headers,
      requestTimeout: timeouts.request,
      // Longer than load balancers keep idle connections open. Otherwise they occasionally send a
      // request on a connection that the server is closing.
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: timeouts.headers / 10,
    },
    (request, response) => handle(request, response),
  );
  return {
    port: await listen(http, port, host),
    serve(next) {
      handle = next;
    },
    async drain() {
      const closed = new Promise<void>((resolve) => {
        http.close(() => resolve());
      });
      const idle = setInterval(() => http.closeIdleConnections(), 50);
      const late = setTimeout(() => http.closeAllConnections(), timeouts.shutdown);
      await closed;
      clearInterval(idle);
      clearTimeout(late);
    },
  };
}

const unavailable: RequestListener = (_request, response) => response.writeHead(503, { 'Retry-After': '1' }).end();

function listen(http: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${port} is in use. Stop the process that uses it, or set SERVICE_PORT to another port.`)
          : error,
      );
    });
    http.listen(port, host, () => {
      const address = http.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}
