import { channel } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export interface LoggedRequest {
  method: string;
  /** `http://localhost:4000`, from the Host header. */
  origin: string;
  /** Path with query. */
  path: string;
  headers: IncomingHttpHeaders;
}

/** Records all requests that reach the HTTP servers of this process. */
export interface RequestLog {
  all(): LoggedRequest[];
  /** Requests to one server. */
  to(origin: string): LoggedRequest[];
  /** Requests to one server as `GET /path?query`. */
  linesTo(origin: string): string[];
  /** Number of requests without a response yet. */
  open(): number;
  stop(): void;
}

const started = channel('http.server.request.start');

/** Records requests from now on. The caller stops it. */
export function logRequests(): RequestLog {
  const requests: LoggedRequest[] = [];
  let open = 0;
  const record = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: NodeJS.EventEmitter };
    const { method = '', url: path = '', headers } = request;
    requests.push({ method, origin: `http://${headers.host}`, path, headers });
    open += 1;
    response.once('close', () => (open -= 1));
  };
  started.subscribe(record);
  const to = (origin: string): LoggedRequest[] => requests.filter((request) => request.origin === origin);
  return {
    all: () => [...requests],
    to,
    linesTo: (origin) => to(origin).map(({ method, path }) => `${method} ${path}`),
    open: () => open,
    stop: () => started.unsubscribe(record),
  };
}
