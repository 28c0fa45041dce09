import { createServer, type RequestListener, type Server } from 'node:http';

/** The open port. */
export interface HttpListener {
  readonly port: number;
  /** From now on requests go here; before, they were told to come back. */
  serve(handle: RequestListener): void;
  /** Answers what is under way, takes nothing new, and resolves when all is said. */
  drain(): Promise<void>;
}

/** Milliseconds. */
export interface Patience {
  /** For the headers of a request; a client that sends half of them is cut off. */
  headers: number;
  /** For a whole request. */
  request: number;
  /** For requests that are under way when the port closes. */
  shutdown: number;
}

const defaultPatience: Patience = { headers: 10_000, request: 30_000, shutdown: 10_000 };

/** @throws Error saying what to set when the port is taken */
export async function openListener(port: number, host: string, patience = defaultPatience): Promise<HttpListener> {
  let handle = unavailable;
  const http = createServer(
    {
      headersTimeout: patience.headers,
      requestTimeout: patience.request,
      // Longer than load balancers keep a connection, or they would now and then send into a closed one.
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: patience.headers / 10,
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
      const late = setTimeout(() => http.closeAllConnections(), patience.shutdown);
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
          ? new Error(`Port ${port} is taken. Stop what runs there, or set SERVICE_PORT to another one.`)
          : error,
      );
    });
    http.listen(port, host, () => {
      const address = http.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}
