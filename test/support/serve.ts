import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A page or file: its body as HTML, or body and headers; or a handler for anything else. */
export type Route = string | { body: string | Buffer; status?: number; headers?: Record<string, string> } | Handler;

/** Routes by path, or one handler for all requests. */
export type Site = Record<string, Route> | Handler;

/**
 * Serves a site on a free port of `host`. Different ports are different origins; `127.0.0.1` and
 * `localhost` are also different sites.
 */
export async function serve(site: Site, host = 'localhost'): Promise<{ origin: string; close(): Promise<void> }> {
  const server = createServer(
    typeof site === 'function' ? site : (request, response) => respond(site, request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function respond(routes: Record<string, Route>, request: IncomingMessage, response: ServerResponse): void {
  const route = routes[new URL(request.url ?? '/', 'http://any').pathname];
  if (route === undefined) {
    response.writeHead(404).end('not found');
    return;
  }
  if (typeof route === 'function') return route(request, response);
  const { body, status = 200, headers = {} } = typeof route === 'string' ? { body: route } : route;
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
}
