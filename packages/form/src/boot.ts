/**
 * The inline script of the frame's page. While the form's own script is loading, it
 *
 * 1. reports `ready` to the host page, addressed to its exact origin;
 * 2. accepts the first valid `init` from that window and origin, and no other;
 * 3. rejects an unsupported protocol version, and an `apiBase` that does not belong to this page's
 *    service, before it sends any request;
 * 4. starts the requests for the type, the session and, on edit, the connector;
 * 5. replies to `leave` until the form can do so;
 * 6. exposes the result to the form's script as `connectorFrameBoot`.
 *
 * It validates only the fields that it uses. The form's script validates the whole message.
 */
import type { AppliedAppearance } from './appearance/apply-appearance.js';
import { PROTOCOL_SOURCE, PROTOCOL_VERSION, type FrameMessage } from '@connector-frame/core/protocol';

/** Outcome of the first `init`. */
export type Start =
  | {
      /** The received message; only the fields in `InitFields` have been validated. */
      init: InitFields & { appearance?: unknown };
      /** Base URL of the service, without a trailing slash. */
      base: string;
      /** Requests that have been started, by path. */
      calls: Map<string, Promise<Response>>;
    }
  | { rejected: 'protocol_mismatch' | 'api_base_mismatch' };

/** State that the boot script passes to the form's script. Absent outside a frame. */
export interface Boot {
  parentOrigin: string;
  start: Promise<Start>;
  /** Set by the form's script once the form replies to `leave` itself. */
  repliesToLeave?: true;
  /** Set by the page's second inline script, `theme.ts`. */
  theme?: Promise<AppliedAppearance>;
}

declare global {
  var connectorFrameBoot: Boot | undefined;
}

const parentOrigin = new URLSearchParams(location.search).get('parentOrigin') ?? '';

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** The fields of an `init` of the supported version that this script uses. */
interface InitFields {
  sessionToken: string;
  apiBase: string;
  organizationId: string;
  typeId: string;
  kind: string;
  existingId?: unknown;
}

const kinds = new Set<unknown>(['input', 'output', 'enrichment']);

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const hasInitFields = (data: Record<string, unknown>): data is Record<string, unknown> & InitFields =>
  [data['sessionToken'], data['apiBase'], data['organizationId'], data['typeId']].every(isText) &&
  kinds.has(data['kind']);

function begin(init: InitFields): Start {
  const base = withoutSlash(init.apiBase);
  // This page is served from `<base>/embed/`; the service can list further base URLs.
  const listed = document.querySelector<HTMLMetaElement>('meta[name=api-bases]')?.content;
  const own: string[] = [new URL('..', location.href).href, ...JSON.parse(listed || '[]')];
  if (!own.map(withoutSlash).includes(base)) return { rejected: 'api_base_mismatch' };

  const calls = new Map<string, Promise<Response>>();
  const call = (...parts: string[]): void => {
    const path = `/${parts.map(encodeURIComponent).join('/')}`;
    const response = fetch(base + path, {
      headers: { Authorization: `Bearer ${init.sessionToken}`, 'Connector-Frame-Parent': parentOrigin },
      credentials: 'omit',
    });
    // The form reports the failure; this only prevents an unhandled rejection.
    response.catch(() => undefined);
    calls.set(path, response);
  };
  const connectors = `${init.kind}s`;
  call('v1', connectors, init.typeId);
  call('v3', 'session');
  if (isText(init.existingId))
    call(init.kind === 'enrichment' ? 'v3' : 'v1', init.organizationId, connectors, init.existingId);
  return { init, base, calls };
}

/** Calls back once the body of the page exists, which this script precedes. */
function whenParsed(callback: () => void): void {
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', callback);
  else callback();
}

/** Replaces the page with plain text if the form cannot be shown. */
function showText(text: string): void {
  document.body.textContent = text;
}

/** Returns the message for a code from the language that is inlined in the page. */
function failureMessage(code: string): string {
  const language = JSON.parse(document.getElementById('messages')?.textContent ?? '{}');
  return language.failures?.[code]?.[0] ?? code;
}

if (parent === self) {
  whenParsed(() => showText('This form works inside another page.'));
} else {
  // Throws if `parentOrigin` is not a URL: then there is no host to post messages to.
  const target = new URL(parentOrigin).origin;
  const post = (message: FrameMessage): void => parent.postMessage(message, target);
  const source = PROTOCOL_SOURCE;

  globalThis.connectorFrameBoot = {
    parentOrigin,
    start: new Promise((resolve) => {
      let started = false;
      addEventListener('message', ({ data, origin, source: sender }: MessageEvent<unknown>) => {
        if (sender !== parent || origin !== parentOrigin || !isMessage(data)) return;
        if (data['type'] === 'leave' && !globalThis.connectorFrameBoot?.repliesToLeave) post({ source, type: 'left' });
        if (data['type'] !== 'init' || started) return;
        const isSupported = data['version'] === PROTOCOL_VERSION;
        const isValid = hasInitFields(data);
        if (isSupported ? !isValid : typeof data['version'] !== 'number') return;
        started = true;
        resolve(isValid && isSupported ? begin(data) : { rejected: 'protocol_mismatch' });
      });
    }),
  };

  // Handles a form script that fails to load. Errors inside a loaded script do not target an
  // element.
  addEventListener(
    'error',
    ({ target: element }) => {
      if (!(element instanceof HTMLScriptElement)) return;
      whenParsed(() => {
        const code = 'load_failed';
        const message = failureMessage(code);
        showText(message);
        post({ source, type: 'error', code, message });
      });
    },
    true,
  );

  post({ source, type: 'ready', version: PROTOCOL_VERSION, reportsLoad: true, answersLeave: true });
}

function isMessage(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && 'source' in data && data.source === PROTOCOL_SOURCE;
}
