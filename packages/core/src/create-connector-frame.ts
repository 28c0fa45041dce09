import { BASE_URL, EMBED_URL } from './addresses.js';
import { ConnectorFrameError, type ConnectorFrameErrorCode } from './connector-frame-error.js';
import type { ConnectorTypeId } from './connector-types.js';
import type { ConnectorFrame, ConnectorFrameOptions } from './connector-frame-options.js';
import { frameIn, TRUSTED } from './frame-element.js';
import { isFrameMessage } from './protocol/is-frame-message.js';
import {
  MESSAGE_SOURCE,
  PROTOCOL_VERSION,
  type FrameMessage,
  type HostMessage,
  type InitMessage,
} from './protocol/messages.js';

type Check = (holds: unknown, name: string, takes: string) => asserts holds;
/** Options as they come: nobody has checked them yet. */
type Given = { [K in keyof ConnectorFrameOptions]?: ConnectorFrameOptions[K] } & Readonly<Record<string, unknown>>;
type Handlers = {
  [T in FrameMessage['type']]?: (message: Omit<Extract<FrameMessage, { type: T }>, 'type'>) => unknown;
};

/**
 * Mounts the form in a frame of another origin, in which a person creates or edits one connector.
 *
 * It survives: a form that loads anew, late or never; a session that is not there yet, or runs out; a container that is
 * moved, not in the document yet, or dropped without `destroy()`; messages of other windows and origins; callbacks that
 * throw; a policy of `style-src 'self'` and Trusted Types. Every failure reaches `onError` with its cause.
 *
 * One function, as it has 2,000 bytes: what would pass between several of them costs more than it tells.
 *
 * @throws {ConnectorFrameError} `invalid_options`, at once: names the option, what it got and what it takes.
 */
export function createConnectorFrame<TypeId extends ConnectorTypeId>(
  options: ConnectorFrameOptions<TypeId>,
): ConnectorFrame;
export function createConnectorFrame(options: Given): ConnectorFrame {
  // --- 1. Options ---------------------------------------------------------------------------------------------------

  const check: Check = (holds, name, takes) => {
    if (!holds) throw new ConnectorFrameError('invalid_options', name + ': "' + options[name] + '" is not ' + takes);
  };
  const { container, frameOrigin = EMBED_URL, loadTimeout = 15e3, ...rest } = options;

  // There is no list of the form's options; it would be the largest part of this package. A name tells its type
  // (`isNameEditable` is a flag, `onSave` a function), and what is data goes to the form, which takes what it knows:
  // it may learn an option before its pages get a new client.
  for (const name in rest) {
    const like = /^is|^syn/.test(name) || (/^on|^fetch/.test(name) ? check : /^app|s$/.test(name) ? rest : name);
    check(typeof (rest[name] ?? like) === typeof like, name, 'a ' + typeof like);
  }
  for (const name of rest.fetchSession && !rest.sessionToken
    ? ['typeId']
    : ['typeId', 'sessionToken', 'organizationId']) {
    check(rest[name], name, 'set');
  }
  check(rest.kind === 'input' || rest.kind === 'output', 'kind', 'input or output');
  check(loadTimeout > 0 && loadTimeout < 2e9, 'loadTimeout', 'a time');

  let src: URL | string = '';
  let target = '';
  let parent: HTMLElement | null | undefined;
  try {
    src = new URL(frameOrigin.replace(/\/*$/, '/?parentOrigin=' + origin));
    target = src.origin;
    parent = typeof container === 'string' ? document.querySelector<HTMLElement>(container) : container;
  } catch {
    // Not an address, not a selector: the checks say so.
  }
  check(TRUSTED.test(target) && target !== origin, 'frameOrigin', 'another https origin');
  check(parent?.style, 'container', 'an element');

  // A deep copy: `postMessage` refuses functions, and proxies (Vue's, for example).
  const init: InitMessage = JSON.parse(
    JSON.stringify({
      ...rest,
      apiBase: rest.apiBase ?? BASE_URL,
      source: MESSAGE_SOURCE,
      type: 'init',
      version: PROTOCOL_VERSION,
    }),
  );

  // --- 2. State -----------------------------------------------------------------------------------------------------

  /** -1 blocked or destroyed, 0 silent, 1 the form listens, 2 it has its `init`. */
  let phase = 0;
  let asking: boolean | undefined;
  let warned: string | undefined;
  let unasked: boolean | undefined;

  const iframe = frameIn(parent, src);
  iframe.title = init.displayName || 'Connector';

  // Callbacks come last in a listener or a microtask: what they throw is reported by the browser (`window.onerror`) and
  // stops nothing here.
  const fail = (code: ConnectorFrameErrorCode, message: string) =>
    queueMicrotask(() => (options.onError ?? console.error)(message, new ConnectorFrameError(code, message)));

  const post = (message: HostMessage) => iframe.contentWindow?.postMessage(message, target);

  // --- 3. Session ---------------------------------------------------------------------------------------------------

  const start = () => {
    clearTimeout(timer);
    phase = 2;
    post(init);
  };

  const renew = async () => {
    if (!options.fetchSession) fail('session_expired', 'fetchSession is not set');
    else if (!asking) {
      asking = true;
      try {
        const { sessionToken, organizationId = init.organizationId, expiresAt } = await options.fetchSession();
        if (phase < 0) return;
        if (!sessionToken || !organizationId) throw 'session is not set';
        Object.assign(init, { sessionToken, organizationId });
        if (phase > 1) post({ source: MESSAGE_SOURCE, type: 'session', sessionToken, expiresAt });
        else if (phase > 0) start();
      } catch (cause) {
        fail('session_failed', 'fetchSession: ' + cause);
      }
      asking = false;
    }
  };

  // --- 4. Messages --------------------------------------------------------------------------------------------------

  const handlers: Handlers = {
    ready({ reportsLoad }) {
      watch();
      phase = 1;
      if (init.sessionToken) start();
      else void renew();
      if (!reportsLoad) options.onReady?.();
    },
    loaded({ title }) {
      iframe.title = title || iframe.title;
      options.onReady?.();
    },
    resize(told) {
      iframe.style.height = Math.min(Math.max(told.height, 0), 2e4) + 'px';
    },
    saved: ({ connector: { id, name } }) => options.onSave?.({ id, name }),
    cancel: () => options.onCancel?.(),
    error: (told) => fail(told.code, told.message),
    session_request: renew,
  };

  // Window, tag and shape, origin: what fails leaves, and only a form at another origin is worth a word.
  const receive = ({ source, origin: sender, data }: MessageEvent<unknown>) => {
    if (source !== iframe.contentWindow || !isFrameMessage(data)) return;
    if (sender === target) handlers[data.type]?.(Object(data));
    else if (!warned) console.warn((warned = 'Message from ' + sender + ', not ' + target));
  };

  // --- 5. A form that does not come ---------------------------------------------------------------------------------

  const violated = ({ disposition, blockedURI, effectiveDirective }: SecurityPolicyViolationEvent) => {
    if (disposition !== 'enforce' || !blockedURI.startsWith(target)) return;
    if (effectiveDirective !== 'frame-src') unasked = true;
    else if (!phase) {
      phase = -1;
      clearTimeout(timer);
      fail('frame_blocked', 'CSP of this page lacks frame-src ' + target);
    }
  };

  const expire: () => unknown = async () => {
    if (!iframe.isConnected) {
      fail('invalid_options', 'container is not in the document');
      queueMicrotask(destroy);
    } else if (!phase) {
      // `load` and `error` of a frame prove nothing; any answer does.
      const answer = await fetch(src, { mode: 'no-cors', signal: AbortSignal.timeout(5e3) }).catch(() => undefined);
      // If `connect-src` forbids to ask, `violated` hears of it a task later.
      setTimeout(() => {
        if (phase) return;
        if (answer || unasked)
          fail('frame_timeout', target + ' is not ready. ALLOWED_PARENT_ORIGINS lacks ' + origin + '?');
        else fail('frame_unreachable', target + ' does not answer');
      });
    } else if (asking) fail('session_failed', 'fetchSession does not answer');
  };
  const timer = setTimeout(expire, loadTimeout);

  // --- 6. The end ---------------------------------------------------------------------------------------------------

  // A removal from any parent, ancestor or shadow host shows in a child list on the way up, and a busy page elsewhere
  // costs nothing. Records come after the task, so that a move is no removal.
  const watch = () => {
    if (iframe.isConnected) {
      for (let node: Node | null = iframe; (node = node.parentNode ?? Object(node).host);) {
        observer.observe(node, { childList: true });
      }
    } else destroy();
  };
  const observer = new MutationObserver(watch);

  const destroy = () => {
    // The handle may live on in the page; the token must not. Nobody is told anything from here on.
    options = { onError() {} };
    init.sessionToken = '';
    phase = -1;
    clearTimeout(timer);
    observer.disconnect();
    removeEventListener('message', receive);
    removeEventListener('securitypolicyviolation', violated);
    iframe.remove();
  };

  addEventListener('message', receive);
  addEventListener('securitypolicyviolation', violated);
  // The form follows the page's color scheme. A page without one is light, whatever the system says; a dark form on it
  // would be an opaque box.
  if (getComputedStyle(iframe).colorScheme === 'normal') iframe.style.colorScheme = 'light';
  if (iframe.isConnected) watch();
  if (!init.sessionToken) void renew();
  return { destroy };
}
