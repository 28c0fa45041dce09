import { ConnectorFrameError, type SavedConnector } from '@connector-frame/core/connect';
import type { FormCommand } from '@connector-frame/core/protocol';
import type { ReactiveController, ReactiveElement } from '@lit/reactive-element';
import { closestDialog } from './closest-dialog.js';
import type { ElementOptions } from './element-options.js';
import { ConnectorCancelEvent } from './events/connector-cancel-event.js';
import { ConnectorErrorEvent } from './events/connector-error-event.js';
import { ConnectorReadyEvent } from './events/connector-ready-event.js';
import { ConnectorSaveEvent } from './events/connector-save-event.js';
import { logError } from './log-error.js';
import { findMissing, findProblem, identityOf, isComplete, MISSING_AFTER } from './mount-conditions.js';
import { MountedFrame, type FrameListener } from './mounted-frame.js';
import { createStates } from './states.js';

/**
 * - `waiting`: an option or the session is missing
 * - `loading`: the form is not shown yet
 * - `ready`: the form is shown
 * - `failed-frame`: the form failed, and shows the cause itself
 * - `error`: the form failed without showing anything; the element shows the cause
 */
export type FramePhase = 'waiting' | 'loading' | 'ready' | 'failed-frame' | 'error';

/** Errors after which no form is there to show the cause. */
const withoutForm = new Set<string>([
  'invalid_options',
  'frame_blocked',
  'frame_unreachable',
  'frame_timeout',
  'session_failed',
]);

// The form replies to the window that contains it; this script listens in another.
const OTHER_DOCUMENT = 'the element is in another document than its script: load the script there';

/** Mounts and removes the form as the options change, and dispatches the element's events. */
export class FrameController implements ReactiveController, FrameListener {
  phase: FramePhase = 'waiting';
  error: ConnectorFrameError | undefined;
  #frame: MountedFrame | undefined;
  #identity = '';
  /** The identity for which the form was asked to leave. */
  #requestedIdentity: string | undefined;
  #wasReconnected = false;
  /** The missing option that was reported last. */
  #reported: string | undefined;
  #missingTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #states;
  readonly #host: ReactiveElement & ElementOptions;
  readonly #render: () => void;

  /**
   * @param render shows the current phase. Called directly and not through an update of the
   *   element: a phase often changes because of an update, which would then cause a second one.
   */
  constructor(host: ReactiveElement & ElementOptions, render: () => void) {
    this.#host = host;
    this.#render = render;
    this.#states = createStates<'loading' | 'ready' | 'error' | 'saved'>(host);
    host.addController(this);
  }

  hostConnected(): void {
    // The browser could not move the frame, which reloads.
    if (this.#frame) this.#enter('loading');
    this.#wasReconnected = true;
    this.#host.requestUpdate();
  }

  hostDisconnected(): void {
    // `append()` moves an element by removing it for a moment.
    queueMicrotask(() => {
      if (!this.#host.isConnected) this.unmount();
    });
  }

  /**
   * Mounts, updates or replaces the form for the current options.
   *
   * @param hasChanged whether an option has changed since the last call
   */
  sync(hasChanged: boolean): void {
    const host = this.#host;
    if (!host.isConnected || !(hasChanged || this.#wasReconnected)) return;
    this.#wasReconnected = false;
    const identity = identityOf(host);
    if (!this.#frame || this.phase === 'error') {
      this.mount();
    } else if (identity === this.#identity) {
      this.#requestedIdentity = undefined;
      this.#frame.updateToken(host.sessionToken);
    } else if (identity !== this.#requestedIdentity) {
      this.#requestedIdentity = identity;
      if (!this.#frame.requestLeave()) this.mount();
    }
  }

  /** Mounts a form for the current options, in place of the mounted one. */
  mount(): void {
    this.#destroyFrame();
    const host = this.#host;
    const container = host.isConnected && host.shadowRoot?.querySelector<HTMLElement>('[part=frame]');
    const problem = host.ownerDocument === document ? findProblem(host) : OTHER_DOCUMENT;
    if (problem) this.failed(new ConnectorFrameError('invalid_options', problem));
    else if (container && isComplete(host)) {
      this.#identity = identityOf(host);
      this.#enter('loading');
      this.#frame = new MountedFrame(host, container, this);
    } else {
      this.#enter('waiting');
      this.#missingTimer = setTimeout(() => this.#reportMissing(), MISSING_AFTER);
    }
  }

  /** Removes the form. */
  unmount(): void {
    this.#destroyFrame();
    this.#enter('waiting');
  }

  /** Triggers a button of the form. Without a form, `cancel` is handled here. */
  execute(command: FormCommand): void {
    if (this.#frame?.isShown) this.#frame.execute(command);
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

  failed(error: ConnectorFrameError, isRemoved = withoutForm.has(error.code)): void {
    if (!this.#frame?.isShown) this.#enter(isRemoved ? 'error' : 'failed-frame', error);
    logError(this.#host, error, !isRemoved);
    this.#host.dispatchEvent(new ConnectorErrorEvent(error));
  }

  left(): void {
    if (identityOf(this.#host) !== this.#identity) this.mount();
  }

  #reportMissing(): void {
    const missing = this.#host.isConnected && findMissing(this.#host);
    if (!missing) return;
    const error = new ConnectorFrameError('invalid_options', missing);
    if (missing === this.#reported) this.#enter('error', error);
    else this.failed(error);
    this.#reported = missing;
  }

  #destroyFrame(): void {
    clearTimeout(this.#missingTimer);
    this.#frame?.destroy();
    this.#frame = undefined;
    this.#identity = '';
    this.#requestedIdentity = undefined;
    this.#states.set('saved', false);
  }

  #enter(phase: FramePhase, error?: ConnectorFrameError): void {
    this.phase = phase;
    this.error = error;
    this.#states.set('loading', phase === 'loading');
    this.#states.set('ready', phase === 'ready');
    this.#states.set('error', phase === 'error' || phase === 'failed-frame');
    this.#render();
  }
}
