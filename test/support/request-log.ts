import { channel } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export interface LoggedRequest {
  method: string;
  /** `http://localhost:4000`, as the browser addressed it. */
  origin: string;
  /** With its query. */
  path: string;
  headers: IncomingHttpHeaders;
}

/** Requests that reached the servers of this process: whatever a browser sent, whoever served it. */
export interface RequestLog {
  all(): LoggedRequest[];
  /** Those to one server. */
  to(origin: string): LoggedRequest[];
  /** `GET /path?query` of those to one server. */
  linesTo(origin: string): string[];
  /** How many have no answer yet. */
  open(): number;
  stop(): void;
}

const started = channel('http.server.request.start');

/** Records requests from now on. The caller stops it. */
export function logRequests(): RequestLog {
  const requests: LoggedRequest[] = [];
  let open = 0;
  const note = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: NodeJS.EventEmitter };
    const { method = '', url: path = '', headers } = request;
    requests.push({ method, origin: `http://${headers.host}`, path, headers });
    open += 1;
    response.once('close', () => (open -= 1));
  };
  started.subscribe(note);
  const to = (origin: string): LoggedRequest[] => requests.filter((request) => request.origin === origin);
  return {
    all: () => [...requests],
    to,
    linesTo: (origin) => to(origin).map(({ method, path }) => `${method} ${path}`),
    open: () => open,
    stop: () => started.unsubscribe(note),
  };
}
