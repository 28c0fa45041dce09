import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer, type RunningServer } from '@connector-frame/service';
import { serve, type Route } from './serve.js';
import { bundle } from './bundle.js';
import { newDataFolder } from './data-folder.js';
import { processStarter } from './topology/starter.js';

/** A host page on one origin and a service on another, both real, for browser tests. */
export interface World {
  service: RunningServer;
  /** Origin of the host page, registered with the service. */
  host: string;
  apiKey: string;
  team: string;
  /** Mints a session for the team. */
  session(narrow?: Record<string, unknown>): Promise<string>;
  /** Calls the API with the key. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  close(): Promise<void>;
}

/**
 * Returns the HTML of a host page for `mount`.
 * @param body contains `<main id="form"></main>`, the container of the form
 * @param head added to the head, such as a style sheet
 */
export const hostPage = (body = '<main id="form"></main>', head = ''): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
<meta name="viewport" content="width=device-width">${head}${body}<script type="module" src="/host.js"></script></html>`;

/**
 * `globalThis.mount(options)` mounts a frame and records its callbacks in `globalThis.heard`. With
 * `fetchSession: true`, the page fetches each session from its own server.
 */
const script = `
import { createConnectorFrame } from '@connector-frame/core/connect';
import { preloadConnectorFrame } from '@connector-frame/core/preload';
import { sendToFrame } from '@connector-frame/core/protocol';
const callbacks = (globalThis.callbacks = []);
globalThis.messages = [];
addEventListener('message', (event) => globalThis.messages.push(event.data));
globalThis.preload = preloadConnectorFrame;
globalThis.send = (message) => sendToFrame(document.querySelector('iframe'), { source: 'monad-embed', ...message });
const fetchSession = async () => (await fetch('/session', { method: 'POST' })).json();
globalThis.mount = (options) => {
  globalThis.frame = createConnectorFrame({
    container: '#form',
    onReady: () => callbacks.push({ type: 'ready' }),
    onSave: (connector) => callbacks.push({ type: 'save', connector }),
    onCancel: () => callbacks.push({ type: 'cancel' }),
    onError: (message, error) => callbacks.push({ type: 'error', message, code: error.code }),
    ...options,
    ...(options.fetchSession === true && { fetchSession }),
  });
};`;

/**
 * Starts a service on an embedded database in a new folder, and a host page for it.
 * @param environment variables of the service that override the test's defaults
 * @param extra additional routes of the host page's server
 * @param hostname of the host page; the service is on `localhost`, so `127.0.0.1` makes them
 *   different sites
 */
export async function startWorld(
  environment: Record<string, string> = {},
  extra: Record<string, Route> = {},
  hostname: 'localhost' | '127.0.0.1' = 'localhost',
): Promise<World> {
  const folder = await newDataFolder('connector-frame');
  const routes: Record<string, Route> = {
    '/': hostPage(),
    '/host.js': { body: await bundle(script), headers: { 'content-type': 'text/javascript' } },
    '/session': (_request, response) => {
      void session().then((sessionToken) => response.end(JSON.stringify({ sessionToken })));
    },
    ...extra,
  };
  const site = await serve(routes, hostname);
  const variables = {
    SERVICE_PORT: '0',
    DATA_DIR: folder,
    // Without it, the type `file` is not offered.
    FILE_OUTPUT_DIR: join(folder, 'files'),
    ALLOWED_PARENT_ORIGINS: site.origin,
    LOG_LEVEL: 'silent',
    ...environment,
  };
  const topology = await processStarter()?.(variables);
  const own = await createServer({ ...variables, ...topology?.own });
  const service = topology ? { ...own, url: topology.url } : own;
  const { apiKey, teams } = await service.bootstrap({ organization: 'Test', teams: ['acme'] });
  const team = teams['acme'] ?? '';
  const call: World['call'] = async (method, path, body) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  async function session(narrow: Record<string, unknown> = {}): Promise<string> {
    const { body } = await call('POST', '/v3/sessions', { organization_id: team, ...narrow });
    return String(body['session_token']);
  }
  return {
    service,
    host: site.origin,
    apiKey,
    team,
    call,
    session,
    async close() {
      await site.close();
      await service.close();
      await topology?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
