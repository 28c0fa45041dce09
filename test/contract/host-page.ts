import type { ServerResponse } from 'node:http';
import { serve } from '../support/serve.js';

/** The page's policy. Each kind is a path of the host. */
export type PageKind = 'plain' | 'dark' | 'strict' | 'trusted-types' | 'coep' | 'isolated' | 'without-frames';

export interface HostPage {
  origin: string;
  /** Requests the host received, as method and path: `POST /session`. */
  requests: string[];
  close(): Promise<void>;
}

export interface HostPageOptions {
  /** The page's script. */
  code: string;
  trustedTypes: string;
  /** Available once the service runs; the service needs the page's origin first. */
  service: () => { url: string; session: () => Promise<string>; team: string };
}

const css = `
body { margin: 20px; font: 16px/1.5 sans-serif; }
.dark { color-scheme: dark; background: rgb(20, 20, 20); color: white; }
`;

const page = (kind: string): string => `<!doctype html><html lang="en" class="${kind}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Host</title><link rel="icon" href="/icon.png">
<link rel="stylesheet" href="/page.css"><button id="before">Before</button>
<main id="container"><div id="form"></div></main><aside id="elsewhere"></aside><button id="after">After</button>
<script type="module" src="/adapter.js"></script></html>`;

/**
 * Serves a host's pages and its session route. The host uses an IP address while the service is on
 * `localhost`, so they are not only different origins but different sites, which browsers isolate
 * in separate processes.
 */
export async function serveHostPage({ code, trustedTypes, service }: HostPageOptions): Promise<HostPage> {
  const requests: string[] = [];
  const files: Record<string, [type: string, body: string]> = {
    '/adapter.js': ['text/javascript', code],
    '/page.css': ['text/css', css],
    '/icon.png': ['image/png', ''],
  };
  const send = (response: ServerResponse, type: string, body: string, headers: Record<string, string> = {}): void => {
    response.writeHead(200, { 'content-type': type, ...headers }).end(body);
  };
  const site = await serve((request, response) => {
    const path = request.url ?? '/';
    requests.push(`${request.method} ${path}`);
    const file = files[path];
    const { url, session, team } = service();
    if (file) {
      send(response, ...file);
    } else if (path === '/session') {
      void session().then((sessionToken) =>
        send(response, 'application/json', JSON.stringify({ sessionToken, organizationId: team })),
      );
    } else {
      const kind = path.slice(1);
      send(response, 'text/html', page(kind), headersOf(kind, url, trustedTypes));
    }
  }, '127.0.0.1');
  return { ...site, requests };
}

function headersOf(kind: string, serviceUrl: string, trustedTypes: string): Record<string, string> {
  const base = `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'`;
  const strict = `${base}; frame-src ${serviceUrl}`;
  const typed = `${strict}; require-trusted-types-for 'script'; trusted-types ${trustedTypes}`;
  const headers: Record<string, Record<string, string>> = {
    strict: { 'content-security-policy': strict },
    'trusted-types': { 'content-security-policy': typed },
    'without-frames': { 'content-security-policy': base },
    coep: { 'cross-origin-embedder-policy': 'require-corp' },
    isolated: { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' },
  };
  return headers[kind] ?? {};
}
