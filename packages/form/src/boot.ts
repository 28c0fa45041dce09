/**
 * The inline script of the frame's page. While the form's own script is still on its way it
 *
 * 1. tells the host page that the frame listens (`ready`), naming the exact origin it answers to;
 * 2. takes the first `init` of that window and origin, and no other;
 * 3. refuses a version it does not speak, and a service that is not its own, before anything has been sent anywhere;
 * 4. begins the calls for the type, the session and the connector;
 * 5. tells the host that it may remove the frame, while there is no form that knows better;
 * 6. leaves all of it for the form's script in one place: `connectorFrameBoot`.
 *
 * It looks only at what it uses. The form's script checks the whole message.
 */
import type { Look } from './appearance/apply-appearance.js';
import { MESSAGE_SOURCE, PROTOCOL_VERSION, type FrameMessage } from '@connector-frame/core/protocol';

/** What became of the first `init`. */
export type Start =
  | {
      /** As it came: only what `Words` names has been looked at. */
      init: Words & { appearance?: unknown };
      /** Address of the service, without a slash at the end. */
      base: string;
      /** The calls that have begun, by path. */
      calls: Map<string, Promise<Response>>;
    }
  | { refused: 'protocol_mismatch' | 'api_base_mismatch' };

/** What the boot script leaves for the form's script. Absent outside of a frame. */
export interface Boot {
  parentOrigin: string;
  start: Promise<Start>;
  /** Set by the form's script once there is a form: it answers `leave` itself. */
  answers?: true;
  /** Set by the page's second script, `look.ts`. */
  look?: Promise<Look>;
}

declare global {
  var connectorFrameBoot: Boot | undefined;
}

const parentOrigin = new URLSearchParams(location.search).get('parentOrigin') ?? '';

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** An `init` of our version, as far as it is used here. */
interface Words {
  sessionToken: string;
  apiBase: string;
  organizationId: string;
  typeId: string;
  kind: string;
  existingId?: unknown;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isWords = (data: Record<string, unknown>): data is Record<string, unknown> & Words =>
  [data['sessionToken'], data['apiBase'], data['organizationId'], data['typeId']].every(isText) &&
  (data['kind'] === 'input' || data['kind'] === 'output');

function begin(words: Words): Start {
  const base = withoutSlash(words.apiBase);
  // The page's own address is `<base>/embed/`; the service may list others of its own.
  const listed = document.querySelector<HTMLMetaElement>('meta[name=api-bases]')?.content;
  const own: string[] = [new URL('..', location.href).href, ...JSON.parse(listed || '[]')];
  if (!own.map(withoutSlash).includes(base)) return { refused: 'api_base_mismatch' };

  const calls = new Map<string, Promise<Response>>();
  const call = (...parts: string[]): void => {
    const path = `/${parts.map(encodeURIComponent).join('/')}`;
    const response = fetch(base + path, {
      headers: { Authorization: `Bearer ${words.sessionToken}`, 'Connector-Frame-Parent': parentOrigin },
      credentials: 'omit',
    });
    // A failure is the form's to tell.
    response.catch(() => undefined);
    calls.set(path, response);
  };
  const connectors = `${words.kind}s`;
  call('v1', connectors, words.typeId);
  call('v3', 'session');
  if (isText(words.existingId)) call('v1', words.organizationId, connectors, words.existingId);
  return { init: words, base, calls };
}

/** Plain words in place of a form that can not be. */
function say(text: string): void {
  const put = (): void => void (document.body.textContent = text);
  // This script runs before there is a body.
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', put);
  else put();
}

if (parent === self) {
  say('This form works inside another page.');
} else {
  // Throws for what is no origin: then there is nobody to talk to.
  const target = new URL(parentOrigin).origin;
  const post = (message: FrameMessage): void => parent.postMessage(message, target);
  const source = MESSAGE_SOURCE;

  globalThis.connectorFrameBoot = {
    parentOrigin,
    start: new Promise((resolve) => {
      let started = false;
      addEventListener('message', ({ data, origin, source: sender }: MessageEvent<unknown>) => {
        if (sender !== parent || origin !== parentOrigin || !isMessage(data)) return;
        if (data['type'] === 'leave' && !globalThis.connectorFrameBoot?.answers) post({ source, type: 'left' });
        if (data['type'] !== 'init' || started) return;
        const spoken = data['version'] === PROTOCOL_VERSION;
        const words = isWords(data);
        if (spoken ? !words : typeof data['version'] !== 'number') return;
        started = true;
        resolve(words && spoken ? begin(data) : { refused: 'protocol_mismatch' });
      });
    }),
  };

  // The form's script did not arrive. Errors inside scripts that did are not events of an element.
  addEventListener(
    'error',
    ({ target: element }) => {
      if (!(element instanceof HTMLScriptElement)) return;
      const message = 'The form could not be loaded.';
      say(message);
      post({ source, type: 'error', code: 'load_failed', message });
    },
    true,
  );

  post({ source, type: 'ready', version: PROTOCOL_VERSION, reportsLoad: true, answersLeave: true });
}

function isMessage(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && 'source' in data && data.source === MESSAGE_SOURCE;
}
