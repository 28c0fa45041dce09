import { ConnectorFrameError, type ConnectorFrameErrorCode } from './connector-frame-error.js';
import { createFrameElement } from './frame-element.js';
import { checkOptions, type UncheckedOptions } from './options/check-options.js';
import type { ConnectorFrame, ConnectorFrameOptions } from './options/connector-frame-options.js';
import type { ConnectorTypeId } from './options/connector-types.js';
import { isFrameMessage } from './protocol/is-frame-message.js';
import {
  PROTOCOL_SOURCE,
  PROTOCOL_VERSION,
  type FrameMessage,
  type HostMessage,
  type InitMessage,
} from './protocol/messages.js';

type Handlers = {
  [Type in FrameMessage['type']]?: (message: Omit<Extract<FrameMessage, { type: Type }>, 'type'>) => unknown;
};

/**
 * Mounts the form in a cross-origin frame, in which a user creates or edits one connector. Reports
 * failures after mounting to `onError`. Handles:
 *
 * - a form that reloads, loads late or never loads;
 * - a session that is not available yet, or expires;
 * - a container that is moved, not yet in the document, or removed without `destroy()`;
 * - messages from other windows and origins;
 * - callbacks that throw: they are called last in a listener or microtask, so that the browser
 *   reports the error (`window.onerror`) and nothing here is interrupted;
 * - `style-src 'self'` and Trusted Types.
 *
 * @param options what the form shows, where it is mounted, and the session; see
 *   {@link ConnectorFrameOptions}
 * @returns a handle that removes the frame
 * @throws {ConnectorFrameError} `invalid_options` if an option is missing or invalid
 * @example
 * ```ts
 * const frame = createConnectorFrame({
 *   container: '#connect',
 *   frameOrigin: 'https://connect.example.com/embed',
 *   apiBase: 'https://connect.example.com',
 *   kind: 'input',
 *   typeId: 'okta-systemlog',
 *   fetchSession: async () => (await fetch('/api/session', { method: 'POST' })).json(),
 *   onSave: ({ id }) => console.log('saved', id),
 * });
 * ```
 */
export function createConnectorFrame<TypeId extends ConnectorTypeId>(
  options: ConnectorFrameOptions<TypeId>,
): ConnectorFrame;
export function createConnectorFrame(options: UncheckedOptions): ConnectorFrame {
  const [parent, url, loadTimeout, form] = checkOptions(options);
  const formOrigin = url.origin;
  // A deep copy: `postMessage` rejects functions and proxies, such as Vue's.
  const init: InitMessage = JSON.parse(
    JSON.stringify({ ...form, source: PROTOCOL_SOURCE, type: 'init', version: PROTOCOL_VERSION }),
  );
  /** The form has not sent `ready` yet. */
  let isLoading = true;
  /** The form has received its `init`. */
  let hasInit = false;
  /** A policy blocked the frame, or it was destroyed. */
  let hasEnded = false;
  let isFetchingSession = false;
  let hasWarned = false;
  /** The page's `connect-src` forbids the request of `reportTimeout`. */
  let isProbeBlocked = false;

  function fail(code: ConnectorFrameErrorCode, message: string): void {
    queueMicrotask(() => (options.onError ?? console.error)(message, new ConnectorFrameError(code, message)));
  }

  function post(message: HostMessage): void {
    iframe.contentWindow?.postMessage(message, formOrigin);
  }

  function sendInit(): void {
    clearTimeout(timer);
    hasInit = true;
    post(init);
  }

  async function renewSession(): Promise<void> {
    if (!options.fetchSession) return fail('session_expired', 'fetchSession is not set');
    if (isFetchingSession) return;
    isFetchingSession = true;
    try {
      const { sessionToken, organizationId = init.organizationId, expiresAt } = await options.fetchSession();
      if (hasEnded) return;
      if (!sessionToken || !organizationId) throw 'session is not set';
      Object.assign(init, { sessionToken, organizationId });
      if (hasInit) post({ source: PROTOCOL_SOURCE, type: 'session', sessionToken, expiresAt });
      else if (!isLoading) sendInit();
    } catch (cause) {
      fail('session_failed', 'fetchSession: ' + cause);
    }
    isFetchingSession = false;
  }

  const handlers: Handlers = {
    ready({ reportsLoad }) {
      watchRemoval();
      isLoading = hasInit = false;
      if (init.sessionToken) sendInit();
      else void renewSession();
      if (!reportsLoad) options.onReady?.();
    },
    loaded({ title }) {
      iframe.title = title || iframe.title;
      options.onReady?.();
    },
    resize({ height }) {
      const maximum = 20_000;
      iframe.style.height = Math.min(Math.max(height, 0), maximum) + 'px';
    },
    saved: ({ connector: { id, name } }) => options.onSave?.({ id, name: name ?? undefined }),
    cancel: () => options.onCancel?.(),
    error: ({ code, message }) => fail(code ?? 'frame_error', message),
    session_request: renewSession,
  };

  /** Drops messages of other windows, and those with a wrong shape or origin. */
  function receive({ source, origin: sender, data }: MessageEvent<unknown>): void {
    if (source !== iframe.contentWindow || !isFrameMessage(data)) return;
    if (sender === formOrigin) handlers[data.type]?.(Object(data));
    else if (!hasWarned) {
      // A form at another origin: `frameOrigin` redirects.
      hasWarned = true;
      console.warn('Message from ' + sender + ', not ' + formOrigin);
    }
  }

  function reportViolation({ disposition, blockedURI, effectiveDirective }: SecurityPolicyViolationEvent): void {
    if (disposition !== 'enforce' || !blockedURI.startsWith(formOrigin)) return;
    if (effectiveDirective !== 'frame-src') isProbeBlocked = true;
    else if (isLoading) {
      isLoading = false;
      hasEnded = true;
      clearTimeout(timer);
      fail('frame_blocked', 'CSP lacks frame-src ' + formOrigin);
    }
  }

  /** Runs after `loadTimeout`, unless the form has received its `init`. */
  async function reportTimeout(): Promise<void> {
    if (!iframe.isConnected) {
      fail('invalid_options', 'container is not in the document');
      // After the error has been reported.
      queueMicrotask(destroy);
    } else if (isLoading) {
      // Whether a server responds at the form's URL. The frame's `load` and `error` don't tell.
      const response = await fetch(url, { mode: 'no-cors', signal: AbortSignal.timeout(5000) }).catch(() => undefined);
      // If `connect-src` forbids the request, the violation is reported in a later task.
      await new Promise((resolve) => setTimeout(resolve));
      if (!isLoading) return;
      if (response ?? isProbeBlocked)
        fail('frame_timeout', url + ' is not a form, or ALLOWED_PARENT_ORIGINS lacks its parentOrigin');
      else fail('frame_unreachable', formOrigin + ' does not answer');
    } else if (isFetchingSession) fail('session_failed', 'fetchSession does not answer');
  }

  /**
   * Observes the child lists of all ancestors and shadow hosts, so that changes elsewhere in the
   * page cost nothing. Records are delivered after the task, so a move does not count as a removal.
   */
  function watchRemoval(): void {
    if (!iframe.isConnected) return destroy();
    for (let node: Node | null = iframe; (node = node.parentNode ?? Object(node).host);) {
      observer.observe(node, { childList: true });
    }
  }

  function destroy(): void {
    // The page may keep the handle, which must not keep the token. No callback is called from here
    // on.
    options = { onError() {} };
    init.sessionToken = '';
    hasEnded = true;
    clearTimeout(timer);
    observer.disconnect();
    removeEventListener('message', receive);
    removeEventListener('securitypolicyviolation', reportViolation);
    iframe.remove();
  }

  const iframe = createFrameElement(parent, url);
  iframe.title = init.displayName || 'Connector';
  // The form follows the page's color scheme. A page that declares none is light, whatever the
  // system's setting; a dark form on it would be an opaque box.
  if (getComputedStyle(iframe).colorScheme === 'normal') iframe.style.colorScheme = 'light';
  const observer = new MutationObserver(watchRemoval);
  const timer = setTimeout(() => void reportTimeout(), loadTimeout);
  addEventListener('message', receive);
  addEventListener('securitypolicyviolation', reportViolation);
  if (iframe.isConnected) watchRemoval();
  if (!init.sessionToken) void renewSession();
  return { destroy };
}
