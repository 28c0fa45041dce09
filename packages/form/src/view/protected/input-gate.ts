import { watchVisibility, type Visibility, type VisibilityWatch } from './visibility.js';

/** The control that a gate belongs to. */
export interface InputGateOwner {
  isFocused: () => boolean;
  /** Returns the current text of the line that names where the value will be sent. */
  sentTo: () => string | undefined;
  /** Called after the visibility was checked: `blockedBy` may have changed. */
  onChange: () => void;
  /** Called when input has been blocked because the host page covers or distorts the control. */
  onCovered: () => void;
  /** Called after queued edits were applied to a control that had lost the focus before. */
  onLateEdits: () => void;
}

/**
 * Returns whether a control with this visibility accepts input. Covers are detected later than
 * clipping (`inside`); nothing is sent before that.
 */
const takesInput = (visibility: Visibility | undefined): boolean => visibility === 'visible' || visibility === 'inside';

/**
 * Delay from an edit or focus to the check for covers, in milliseconds: until after an event that
 * follows immediately, such as a click.
 */
const COVER_CHECK_DELAY_MS = 400;

/** How long the line with the destination must be visible to count as seen, in milliseconds. */
const SEEN_MS = 200;

/**
 * How long the control must be hidden before edits are dropped, in milliseconds. A host page may
 * need a moment to make room for it.
 */
const BLOCK_MS = 1_500;

/**
 * Lets edits through only while all of an element is visible, including the line that names where
 * the value will be sent, and remembers whether the user could see that line.
 */
export class InputGate {
  readonly #element: HTMLElement;
  readonly #owner: InputGateOwner;
  #watch: VisibilityWatch | undefined;
  #coverCheck: ReturnType<typeof setTimeout> | undefined;
  /** Number of scheduled checks for covers in progress. */
  #scheduled = 0;
  /** Number of checks in progress on which a save or test waits. */
  #awaited = 0;
  #blocking: ReturnType<typeof setTimeout> | undefined;
  #blockedBy: 'clipped' | 'covered' | undefined;
  /** Edits queued until it is known whether the element is visible. */
  #queue: (() => void)[] = [];
  /** The last `sentTo` that was visible. */
  #seen: string | undefined;

  constructor(element: HTMLElement, owner: InputGateOwner) {
    this.#element = element;
    this.#owner = owner;
  }

  /** Why input is rejected, set once this has lasted `BLOCK_MS`. */
  get blockedBy(): 'clipped' | 'covered' | undefined {
    return this.#blockedBy;
  }

  /** Whether the line that names where the value will be sent was visible with its current text. */
  get destinationSeen(): boolean {
    return this.#seen === this.#owner.sentTo();
  }

  /** Starts to watch the element, which must be in the document. */
  start(): void {
    this.#watch = watchVisibility(this.#element, () => this.update());
    addEventListener('pointermove', this.#postponeCoverCheck, true);
  }

  /** Stops watching, and drops the queued edits. */
  stop(): void {
    this.#watch?.stop();
    this.#watch = undefined;
    this.#queue = [];
    clearTimeout(this.#coverCheck);
    this.#coverCheck = undefined;
    removeEventListener('pointermove', this.#postponeCoverCheck, true);
  }

  /**
   * Applies an edit immediately, or once the control is known to be visible. Edits in a hidden
   * control are dropped; if the user has left the control meanwhile, they wait until it is visible
   * again.
   */
  add(edit: () => void): void {
    this.#queue.push(edit);
    if (takesInput(this.#watch?.visibility)) this.#applyQueue();
    else void this.#check();
    this.#scheduleCoverCheck();
  }

  /** Scrolls the control into view and checks its visibility, after it received the focus. */
  focused(): void {
    // The browser scrolls only as far as the caret, so scroll the whole control into view. On
    // focus only: a scroll on each key press would let the host page count them.
    this.#scrollIntoView();
    void this.#check();
    this.#scheduleCoverCheck();
  }

  /** Returns whether the control is visible and accepts input. */
  async isOpen(): Promise<boolean> {
    return takesInput(await this.#watch?.check());
  }

  /** Scrolls the whole control into view, and applies the queued edits if it is visible. */
  async settled(): Promise<void> {
    if (this.#queue.length === 0) return;
    this.#scrollIntoView();
    if (takesInput(await this.#untilKnown(this.#watch?.certain()))) this.#applyQueue();
  }

  /**
   * Returns whether the user could see where the value will be sent.
   *
   * @param scroll whether to scroll the whole control into view first, if the destination has not
   *   been seen
   */
  async confirmDestination(scroll: boolean): Promise<boolean> {
    if (this.destinationSeen) return true;
    if (scroll) this.#scrollIntoView();
    await this.#untilKnown(this.#checkDestination());
    return this.destinationSeen;
  }

  /** Awaits a check that a moving pointer must not interrupt. */
  async #untilKnown<T>(check: Promise<T> | undefined): Promise<T | undefined> {
    this.#awaited += 1;
    try {
      return await check;
    } finally {
      this.#awaited -= 1;
    }
  }

  /** Acts on the last known visibility: applies the queued edits, or blocks input. */
  update(): void {
    const visibility = this.#watch?.visibility;
    const isHidden = visibility === 'clipped' || visibility === 'covered';
    if (takesInput(visibility)) this.#applyQueue();
    if (!isHidden || !this.#owner.isFocused()) {
      clearTimeout(this.#blocking);
      this.#blocking = undefined;
      this.#blockedBy = undefined;
    } else if (this.#blockedBy) {
      this.#queue = [];
      this.#blockedBy = visibility;
    } else
      this.#blocking ??= setTimeout(() => {
        this.#queue = [];
        this.#blockedBy = visibility;
        this.#owner.onChange();
        if (visibility === 'covered') this.#owner.onCovered();
      }, BLOCK_MS);
    this.#owner.onChange();
  }

  /** Checks the visibility again and acts on it. */
  async #check(): Promise<void> {
    await this.#watch?.check();
    this.update();
  }

  /**
   * Checks twice whether the line that names where the value will be sent is visible with its
   * current text. What this process knows of the embedding pages may be one or two frames old, and
   * a page could change the line and hide it immediately.
   */
  async #checkDestination(): Promise<void> {
    const sentTo = this.#owner.sentTo();
    for (let checks = 0; checks < 2; checks += 1) {
      if (checks > 0) await new Promise((resolve) => setTimeout(resolve, SEEN_MS));
      if ((await this.#watch?.certain()) !== 'visible' || this.#owner.sentTo() !== sentTo) return;
    }
    this.#seen = sentTo;
  }

  #scheduleCoverCheck(): void {
    if (this.#coverCheck !== undefined) return;
    this.#coverCheck = setTimeout(() => {
      this.#coverCheck = undefined;
      if (!this.#owner.isFocused()) return;
      this.#scheduled += 1;
      void this.#checkDestination().finally(() => (this.#scheduled -= 1));
    }, COVER_CHECK_DELAY_MS);
  }

  /**
   * Postpones a scheduled check. While one runs, Chromium drops clicks into a frame that has just
   * moved on screen, and a moving pointer may be about to click.
   */
  readonly #postponeCoverCheck = (): void => {
    if (this.#awaited > 0 || (this.#scheduled === 0 && this.#coverCheck === undefined)) return;
    this.#watch?.interrupt();
    clearTimeout(this.#coverCheck);
    this.#coverCheck = undefined;
    this.#scheduleCoverCheck();
  };

  #applyQueue(): void {
    const edits = this.#queue.splice(0);
    for (const run of edits) run();
    if (edits.length > 0 && !this.#owner.isFocused()) this.#owner.onLateEdits();
  }

  #scrollIntoView(): void {
    this.#element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
  }
}
