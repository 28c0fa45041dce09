import { ConnectorFrameError, type SavedConnector } from '@connector-frame/core/connect';
import type { FormCommand } from '@connector-frame/core/protocol';
import type { ReactiveController, ReactiveElement } from '@lit/reactive-element';
import { closestDialog } from './closest-dialog.js';
import { ConnectorCancelEvent } from './events/connector-cancel-event.js';
import { ConnectorErrorEvent } from './events/connector-error-event.js';
import { ConnectorReadyEvent } from './events/connector-ready-event.js';
import { ConnectorSaveEvent } from './events/connector-save-event.js';
import { createStates } from './states.js';
import { identityOf, isComplete, problemOf, type FrameSettings } from './frame-settings.js';
import { MountedFrame, type FrameListener } from './mounted-frame.js';

/**
 * `waiting`: something is missing. `loading`: no form yet. `ready`: the form is shown. `refused`: the form tells itself
 * why it is none. `error`: there is nothing but our own words.
 */
export type FramePhase = 'waiting' | 'loading' | 'ready' | 'refused' | 'error';

/** Failures that leave nobody in the frame to tell of them. */
const silent = new Set<string>([
  'invalid_options',
  'frame_blocked',
  'frame_unreachable',
  'frame_timeout',
  'session_failed',
]);

/** A form answers the window it is in, and would hear this script's as a stranger's. */
const elsewhere = 'the element is in another document than its script: load the script there';

/** Decides when there is a form and which, and tells the page what becomes of it. */
export class FrameController implements ReactiveController, FrameListener {
  phase: FramePhase = 'waiting';
  error: ConnectorFrameError | undefined;
  #frame: MountedFrame | undefined;
  #identity = '';
  /** The identity for which the form was asked to leave. */
  #asked: string | undefined;
  #isStale = false;
  readonly #states;
  readonly #host: ReactiveElement & FrameSettings;

  constructor(host: ReactiveElement & FrameSettings) {
    this.#host = host;
    this.#states = createStates<'loading' | 'ready' | 'error' | 'saved'>(host);
    host.addController(this);
  }

  hostConnected(): void {
    // A move that the browser could not make at once: the frame is loading anew.
    if (this.#frame) this.#enter('loading');
    this.#isStale = true;
    this.#host.requestUpdate();
  }

  hostDisconnected(): void {
    // Whoever moves an element by `append()` removes it for a moment.
    queueMicrotask(() => {
      if (!this.#host.isConnected) this.#unmount();
    });
  }

  /** The element went to another document: what it had was of the one before. */
  hostAdopted(): void {
    this.#unmount();
  }

  /** Brings the form in line with the settings. `isChanged`: one of them is another than before. */
  sync(isChanged: boolean): void {
    const host = this.#host;
    if (!host.isConnected || !(isChanged || this.#isStale)) return;
    this.#isStale = false;
    const wanted = identityOf(host);
    if (!this.#frame || this.phase === 'error') {
      this.mount();
    } else if (wanted === this.#identity) {
      this.#asked = undefined;
      this.#frame.renew(host.sessionToken);
    } else if (wanted !== this.#asked) {
      this.#asked = wanted;
      if (!this.#frame.leave()) this.mount();
    }
  }

  /** Mounts a form of the present settings, in place of the one there is; none where something is missing. */
  mount(): void {
    this.#unmount();
    const host = this.#host;
    const container = host.isConnected && host.shadowRoot?.querySelector<HTMLElement>('[part=frame]');
    const problem = host.ownerDocument === document ? problemOf(host) : elsewhere;
    if (problem) this.failed(new ConnectorFrameError('invalid_options', problem));
    else if (container && isComplete(host)) {
      this.#identity = identityOf(host);
      this.#enter('loading');
      this.#frame = new MountedFrame(host, container, this);
    }
  }

  /** As if the person pressed that button of the form. Where there is no form, only canceling means something. */
  press(command: FormCommand): void {
    if (this.#frame?.isShown) this.#frame.press(command);
    else if (command === 'cancel') this.canceled();
  }

  shown(): void {
    this.#enter('ready');
    this.#host.dispatchEvent(new ConnectorReadyEvent());
  }

  saved(connector: SavedConnector): void {
    this.#states.set('saved', true);
    this.#host.dispatchEvent(new ConnectorSaveEvent(connector));
  }

  canceled(): void {
    if (this.#host.dispatchEvent(new ConnectorCancelEvent())) closestDialog(this.#host)?.close();
  }

  failed(error: ConnectorFrameError): void {
    if (!this.#frame?.isShown) this.#enter(silent.has(error.code) ? 'error' : 'refused', error);
    this.#host.dispatchEvent(new ConnectorErrorEvent(error));
  }

  left(): void {
    if (identityOf(this.#host) !== this.#identity) this.mount();
  }

  #unmount(): void {
    this.#frame?.destroy();
    this.#frame = undefined;
    this.#identity = '';
    this.#asked = undefined;
    this.#states.set('saved', false);
    this.#enter('waiting');
  }

  #enter(phase: FramePhase, error?: ConnectorFrameError): void {
    this.phase = phase;
    this.error = error;
    this.#states.set('loading', phase === 'loading');
    this.#states.set('ready', phase === 'ready');
    this.#states.set('error', phase === 'error' || phase === 'refused');
    this.#host.requestUpdate();
  }
}
