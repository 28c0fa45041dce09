import {
  ConnectorFrameError,
  createConnectorFrame,
  type ConnectorFrame,
  type ConnectorFrameSession,
  type HostConfig,
  type SavedConnector,
} from '@connector-frame/core/connect';
import {
  isFrameMessage,
  PROTOCOL_SOURCE,
  sendToFrame,
  type FormCommand,
  type HostMessage,
} from '@connector-frame/core/protocol';
import { createSessionSource, type SessionSource } from './create-session-source.js';
import { defaultAddresses } from './default-addresses.js';
import type { CompleteOptions } from './element-options.js';
import { explainBlocked } from './explain-blocked.js';
import { fetchHostConfig } from './host-routes.js';
import { readFormOptions } from './read-form-options.js';

/** Receives the events of a mounted frame. */
export interface FrameListener {
  shown(): void;
  saved(connector: SavedConnector): void;
  canceled(): void;
  /** @param isRemoved the frame was removed: it does not show the cause itself */
  failed(error: ConnectorFrameError, isRemoved?: boolean): void;
  /** The form can be removed: its reply to `leave`. */
  left(): void;
}

type Body<M> = M extends HostMessage ? Omit<M, 'source'> : never;

/** One mounted form. Its options are read once, at construction. */
export class MountedFrame {
  /** Whether the form is visible. Before that, the user can't have entered anything. */
  isShown = false;
  #answersLeave = false;
  /** The form has received `init`, and so accepts a new token. */
  #hasInit = false;
  #isDestroyed = false;
  #frame: ConnectorFrame | undefined;
  #token: string | undefined;
  #sentToken: string | undefined;
  /** The host's error for the last session request. */
  #sessionError: ConnectorFrameError | undefined;
  readonly #container: HTMLElement;
  readonly #listener: FrameListener;

  constructor(options: CompleteOptions & HTMLElement, container: HTMLElement, listener: FrameListener) {
    this.#container = container;
    this.#listener = listener;
    this.#token = this.#sentToken = options.sessionToken;
    // Added before core's listener, so that `ready` is evaluated here before core replies to it.
    addEventListener('message', this.#receive);
    void this.#start(options);
  }

  /** Sends a new token to the form, or stores it until the form accepts one. */
  updateToken(token: string | undefined): void {
    this.#token = token;
    if (this.#hasInit) this.#sendToken();
  }

  /** Triggers a button of the form. */
  execute(command: FormCommand): void {
    this.#send({ type: 'command', command });
  }

  /**
   * Asks the form whether it can be removed; it replies with `left`.
   *
   * @returns whether the form was asked. If not, it can be removed at once.
   */
  requestLeave(): boolean {
    const isAsked = this.isShown && this.#answersLeave;
    if (isAsked) this.#send({ type: 'leave' });
    return isAsked;
  }

  /** Removes the form. The listener is not called afterwards. */
  destroy(): void {
    this.#isDestroyed = true;
    removeEventListener('message', this.#receive);
    this.#keepInput(false);
    this.#frame?.destroy();
  }

  async #start(element: CompleteOptions & HTMLElement): Promise<void> {
    try {
      const { hostUrl, frameOrigin, apiBase, sessionToken, organizationId } = element;
      const needsConfig = hostUrl && !(frameOrigin && apiBase);
      const fetchSession = this.#createFetchSession(element, Boolean(needsConfig && !sessionToken));
      // Read before the first `await`, so that all of them are from the same state of the element.
      const options = {
        container: this.#container,
        ...readFormOptions(element),
        loadTimeout: element.loadTimeout,
        ...(fetchSession
          ? { sessionToken, organizationId, fetchSession }
          : { sessionToken: sessionToken ?? '', organizationId: organizationId ?? '' }),
        onReady: () => {
          this.isShown = true;
          this.#markInitialized();
          this.#listener.shown();
        },
        onSave: (connector: SavedConnector) => this.#listener.saved(connector),
        onCancel: () => this.#listener.canceled(),
        onError: (_: string, error: ConnectorFrameError) => this.#fail(error),
      };
      const host: Partial<HostConfig> = needsConfig ? await fetchHostConfig(hostUrl) : {};
      if (this.#isDestroyed) return;
      const defaults = defaultAddresses();
      this.#frame = createConnectorFrame({
        ...options,
        frameOrigin: frameOrigin || host.frameOrigin || defaults.frameOrigin,
        apiBase: apiBase || host.apiBase || defaults.apiBase,
      });
    } catch (error) {
      this.#abort(asFrameError(error));
    }
  }

  /**
   * @param isEager whether to request the first session now, in parallel with the addresses
   */
  #createFetchSession(options: CompleteOptions, isEager: boolean): SessionSource | undefined {
    const source = createSessionSource(options);
    if (!source) return undefined;
    const request = async (): Promise<ConnectorFrameSession> => {
      this.#sessionError = undefined;
      try {
        return await explainBlocked(source);
      } catch (error) {
        if (error instanceof ConnectorFrameError) this.#handleSessionError(error);
        throw error;
      }
    };
    let first = isEager ? request() : undefined;
    // A failure is reported when the session is used.
    first?.catch(() => undefined);
    return () => {
      const session = first ?? request();
      first = undefined;
      return session;
    };
  }

  /** A form that has not received its first session can't be shown. */
  #handleSessionError(error: ConnectorFrameError): void {
    this.#sessionError = error;
    if (!this.isShown) this.#abort(error);
  }

  /** Reports the first of several failed requests. */
  #abort(error: ConnectorFrameError): void {
    if (this.#isDestroyed) return;
    this.destroy();
    this.#listener.failed(error, true);
  }

  #fail(error: ConnectorFrameError): void {
    const { code } = error;
    let cause: ConnectorFrameError | undefined;
    if (code === 'session_failed') cause = this.#sessionError;
    else if (code === 'frame_timeout') cause = findMissingPath(this.#iframe);
    this.#listener.failed(cause ?? error);
  }

  readonly #receive = ({ source, origin, data }: MessageEvent<unknown>): void => {
    const iframe = this.#iframe;
    if (!iframe || source !== iframe.contentWindow || !isFrameMessage(data)) return;
    if (origin !== new URL(iframe.src).origin) return;
    if (data.type === 'ready') {
      this.isShown = this.#hasInit = false;
      this.#keepInput(false);
      this.#answersLeave = data.answersLeave === true;
    } else if (data.type === 'dirty') this.#keepInput(data.dirty);
    else if (data.type === 'left') this.#listener.left();
    else if (data.type !== 'resize') this.#markInitialized();
  };

  /**
   * Makes the browser ask the user before it unloads the page, while the form has unsaved input.
   * Listens only then, because browsers don't cache pages that listen to `beforeunload`.
   */
  #keepInput(hasInput: boolean): void {
    (hasInput ? addEventListener : removeEventListener)('beforeunload', this.#askBeforeUnload);
  }

  // A listener of its own, so that another form of the page keeps asking.
  readonly #askBeforeUnload = (event: BeforeUnloadEvent): void => {
    event.preventDefault();
    // Chrome before 119 asks only if this is set.
    event.returnValue = true;
  };

  get #iframe(): HTMLIFrameElement | null {
    return this.#container.querySelector('iframe');
  }

  #markInitialized(): void {
    this.#hasInit = true;
    this.#sendToken();
  }

  #sendToken(): void {
    if (!this.#token || this.#token === this.#sentToken) return;
    this.#sentToken = this.#token;
    this.#send({ type: 'session', sessionToken: this.#token });
  }

  #send(message: Body<HostMessage>): void {
    const iframe = this.#iframe;
    if (iframe) sendToFrame(iframe, { source: PROTOCOL_SOURCE, ...message });
  }
}

/** A service has its form at `/embed`, so the URL of a frame without a path is incomplete. */
function findMissingPath(iframe: HTMLIFrameElement | null): ConnectorFrameError | undefined {
  const { origin, pathname } = new URL(iframe?.src || location.href);
  if (!iframe || pathname !== '/') return undefined;
  const message = `frameOrigin "${origin}" has no path. Usually it is "${origin}/embed"`;
  return new ConnectorFrameError('frame_timeout', message);
}

function asFrameError(error: unknown): ConnectorFrameError {
  return error instanceof ConnectorFrameError ? error : new ConnectorFrameError('invalid_options', String(error));
}
