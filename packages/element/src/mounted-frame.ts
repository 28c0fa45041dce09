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
  MESSAGE_SOURCE,
  sendToFrame,
  type FormCommand,
  type HostMessage,
} from '@connector-frame/core/protocol';
import { defaultAddresses } from './default-addresses.js';
import { formOptions } from './form-options.js';
import type { CompleteSettings } from './frame-settings.js';
import { fetchHostConfig } from './host-routes.js';
import { sessionSource, type SessionSource } from './session-source.js';

/** What a mounted frame tells. */
export interface FrameListener {
  shown(): void;
  saved(connector: SavedConnector): void;
  canceled(): void;
  failed(error: ConnectorFrameError): void;
  /** The form may go: answer to `leave`. */
  left(): void;
}

type Body<M> = M extends HostMessage ? Omit<M, 'source'> : never;

/** One form from its mounting to its end. Options are read when it is made. */
export class MountedFrame {
  /** Whether the form is to be seen: before that nothing can have been typed. */
  isShown = false;
  #answersLeave = false;
  /** It has its `init`, so that a new token reaches it. */
  #isTold = false;
  #ended = false;
  #frame: ConnectorFrame | undefined;
  #token: string | undefined;
  #sentToken: string | undefined;
  /** Why there is no session, in the words of who refused it. */
  #refusal: ConnectorFrameError | undefined;
  readonly #container: HTMLElement;
  readonly #listener: FrameListener;

  constructor(settings: CompleteSettings & HTMLElement, container: HTMLElement, listener: FrameListener) {
    this.#container = container;
    this.#listener = listener;
    this.#token = this.#sentToken = settings.sessionToken;
    // Before core's own: what `ready` says is known when core answers it.
    addEventListener('message', this.#receive);
    void this.#start(settings);
  }

  /** Gives the form a new token. One that is not there yet gets it when it comes. */
  renew(token: string | undefined): void {
    this.#token = token;
    if (this.#isTold) this.#sendToken();
  }

  press(command: FormCommand): void {
    this.#send({ type: 'command', command });
  }

  /** Asks the form to let go; the listener hears `left`. False where there is nothing to ask. */
  leave(): boolean {
    const asks = this.isShown && this.#answersLeave;
    if (asks) this.#send({ type: 'leave' });
    return asks;
  }

  /** Removes the form. The listener hears nothing from here on. */
  destroy(): void {
    this.#ended = true;
    removeEventListener('message', this.#receive);
    this.#frame?.destroy();
  }

  async #start(settings: CompleteSettings & HTMLElement): Promise<void> {
    try {
      const { hostUrl, frameOrigin, apiBase, sessionToken, organizationId } = settings;
      const needsConfig = hostUrl && !(frameOrigin && apiBase);
      const fetchSession = this.#sessions(settings, Boolean(needsConfig && !sessionToken));
      // Read before anything is awaited: together they are one state of the element.
      const options = {
        container: this.#container,
        ...formOptions(settings),
        ...(fetchSession
          ? { sessionToken, organizationId, fetchSession }
          : { sessionToken: sessionToken ?? '', organizationId: organizationId ?? '' }),
        onReady: () => {
          this.isShown = true;
          this.#tell();
          this.#listener.shown();
        },
        onSave: (connector: SavedConnector) => this.#listener.saved(connector),
        onCancel: () => this.#listener.canceled(),
        onError: (_: string, error: ConnectorFrameError) => this.#fail(error),
      };
      const host: Partial<HostConfig> = needsConfig ? await fetchHostConfig(hostUrl) : {};
      if (this.#ended) return;
      const defaults = defaultAddresses();
      this.#frame = createConnectorFrame({
        ...options,
        frameOrigin: frameOrigin || host.frameOrigin || defaults.frameOrigin,
        apiBase: apiBase || host.apiBase || defaults.apiBase,
      });
    } catch (error) {
      this.#giveUp(asFrameError(error));
    }
  }

  /** Who makes sessions. `ahead`: the first one is asked for at once, beside the addresses. */
  #sessions(settings: CompleteSettings, ahead: boolean): SessionSource | undefined {
    const source = sessionSource(settings);
    if (!source) return undefined;
    const ask = async (): Promise<ConnectorFrameSession> => {
      this.#refusal = undefined;
      try {
        return await source();
      } catch (error) {
        if (error instanceof ConnectorFrameError) this.#refuse(error);
        throw error;
      }
    };
    let first = ahead ? ask() : undefined;
    // Told when it is asked for.
    first?.catch(() => undefined);
    return () => {
      const session = first ?? ask();
      first = undefined;
      return session;
    };
  }

  /** The host has spoken. A form that waits for its first session waits in vain. */
  #refuse(error: ConnectorFrameError): void {
    this.#refusal = error;
    if (!this.isShown) this.#giveUp(error);
  }

  /** Of all that was asked for, the first that fails is told. */
  #giveUp(error: ConnectorFrameError): void {
    if (this.#ended) return;
    this.destroy();
    this.#listener.failed(error);
  }

  #fail(error: ConnectorFrameError): void {
    this.#listener.failed((error.code === 'session_failed' && this.#refusal) || error);
  }

  readonly #receive = ({ source, origin, data }: MessageEvent<unknown>): void => {
    const iframe = this.#iframe;
    if (!iframe || source !== iframe.contentWindow || !isFrameMessage(data)) return;
    if (origin !== new URL(iframe.src).origin) return;
    if (data.type === 'ready') {
      this.isShown = this.#isTold = false;
      this.#answersLeave = data.answersLeave === true;
    } else if (data.type === 'left') this.#listener.left();
    else if (data.type !== 'resize') this.#tell();
  };

  get #iframe(): HTMLIFrameElement | null {
    return this.#container.querySelector('iframe');
  }

  #tell(): void {
    this.#isTold = true;
    this.#sendToken();
  }

  #sendToken(): void {
    if (!this.#token || this.#token === this.#sentToken) return;
    this.#sentToken = this.#token;
    this.#send({ type: 'session', sessionToken: this.#token });
  }

  #send(message: Body<HostMessage>): void {
    const iframe = this.#iframe;
    if (iframe) sendToFrame(iframe, { source: MESSAGE_SOURCE, ...message });
  }
}

function asFrameError(error: unknown): ConnectorFrameError {
  return error instanceof ConnectorFrameError ? error : new ConnectorFrameError('invalid_options', String(error));
}
