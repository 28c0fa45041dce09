import { html, nothing, render } from 'lit/html.js';
import type { Messages } from '../../messages/index.js';
import { ownIcon } from '../icons.js';
import { SecretScreen } from './screen.js';
import { secretSheets } from './protected-sheets.js';
import { deleteText, insertText, moveCaret, type Lines, type Move, type TextState } from './text-edit.js';
import { watchVisibility, type Visibility, type VisibilityWatch } from './visibility.js';

/** A note under the control. */
export interface SecretNote {
  text: string;
  bad: boolean;
}

/** Everything around the value. None of it is secret. */
export interface SecretOptions {
  messages: Messages;
  /** Accessible name. */
  label: string;
  /** Help for the accessible description; it is displayed outside the control. */
  description: string;
  /**
   * Sentence that names where the value will be sent, and the organization for which it is stored.
   * Absent in a control whose value is sent together with another one's.
   */
  sentTo?: string | undefined;
  /** An error or another note. */
  note?: SecretNote | undefined;
  /** The longest possible note: space for it is reserved, so that no note changes the height. */
  longestNote: string;
  placeholder?: string | undefined;
  required?: boolean | undefined;
  /** Constant after the first render. */
  multiline?: boolean | undefined;
  /** Never masked: used for the names in a secret map. */
  plain?: boolean | undefined;
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
const COVER_LOOK_MS = 400;

/** How long the line with the destination must be visible to count as seen, in milliseconds. */
const SEEN_MS = 200;

/**
 * How long the control must be hidden before edits are dropped, in milliseconds. A host page may
 * need a moment to make room for it.
 */
const BLOCK_MS = 1_500;

/** Each password manager has its own opt-out attribute. */
const attributes = {
  class: 'control',
  dir: 'ltr',
  autocomplete: 'off',
  autocapitalize: 'none',
  autocorrect: 'off',
  spellcheck: 'false',
  'data-1p-ignore': '',
  'data-lpignore': 'true',
  'data-bwignore': '',
  'data-form-type': 'other',
  'aria-describedby': 'note sent about',
};

/**
 * The control is laid out `SCALE` times as large and scaled back, so that the one pixel in which
 * its caret moves is not measurable on screen. The rest of its box is border, which receives
 * clicks, drops and the context menu.
 */
const SCALE = 1000;

/** Padding beside the text, in CSS pixels. */
const INSET = 12;

const BLINK_MS = 530;

const isApple = /^(mac|ip)/i.test(navigator.platform);

const supportsTopLayer = 'showPopover' in HTMLElement.prototype && CSS.supports('anchor-name: --a');

const MOVES: readonly string[] = [
  'ArrowLeft',
  'ArrowRight',
  'ArrowUp',
  'ArrowDown',
  'Home',
  'End',
  'PageUp',
  'PageDown',
] satisfies Move['key'][];
const isMove = (key: string): key is Move['key'] => MOVES.includes(key);

/**
 * A text field for a secret that reveals nothing to a hostile host page.
 *
 * - **Style sheets** of the page do not apply inside its shadow root. Its height does not depend on
 *   the entered text or on its validity. Where the browser supports it, the control is drawn in the
 *   top layer, above anything that a style sheet could put over it.
 * - **Scrolling.** Browsers scroll every box around a caret, including those of the host page, to
 *   keep the caret in view; the page could derive the length and the letters from that. The caret
 *   of the native control never moves on screen, edits and caret moves are made by script, which
 *   scrolls nothing, and the visible text is drawn on a canvas.
 * - **Clipping and covers.** It accepts input only while all of it is visible, including the line
 *   that names where the value will be sent.
 *
 * `decisions/017-a-caret-that-never-moves.md` has the measurements. The root is open
 * (`decisions/003`): a closed one would keep style sheets out no better, and a host's own tests and
 * the user's tools could not find the field by its label.
 *
 * Fires `input` (composed, from inside), `blur` when focus leaves the control as a whole, and
 * `covered` (bubbles) when it has the focus and rejects input because the host page covers or
 * distorts it.
 */
export class SecretControl extends HTMLElement {
  /** Lets a click on its `<label for>` focus it. It adds nothing to form data. */
  static readonly formAssociated = true;

  readonly #root = this.attachShadow({ mode: 'open', delegatesFocus: true });
  readonly #sizer = document.createElement('div');
  readonly #box = document.createElement('div');
  readonly #inner = document.createElement('div');
  readonly #below = document.createElement('div');
  readonly #lock = ownIcon('lock');
  readonly #alert = ownIcon('alert');
  #control: HTMLInputElement | HTMLTextAreaElement | undefined;
  #screen: SecretScreen | undefined;
  #options: SecretOptions | undefined;
  #shown = false;
  #focused = false;
  #caretOn = true;
  #blink: ReturnType<typeof setInterval> | undefined;
  #watch: VisibilityWatch | undefined;
  #coverCheck: ReturnType<typeof setTimeout> | undefined;
  #blocking: ReturnType<typeof setTimeout> | undefined;
  /** Why it rejects input, set once this has lasted `BLOCK_MS`. */
  #blocked: 'clipped' | 'covered' | undefined;
  readonly #resized = new ResizeObserver(() => this.#resize());
  /** Edits queued until it is known whether the control is visible. */
  #waiting: (() => void)[] = [];
  /** The last `sentTo` that was visible. */
  #seen: string | undefined;
  #past: TextState[] = [];
  #future: TextState[] = [];

  get value(): string {
    return this.#control?.value ?? '';
  }

  /** Must be set after `options`. */
  set value(value: string) {
    if (!this.#control || value === this.value) return;
    this.#control.value = value;
    [this.#past, this.#future] = [[], []];
    this.#paint();
  }

  /** Whether the line that names where the value will be sent was visible with its current text. */
  get destinationSeen(): boolean {
    return this.#seen === this.#options?.sentTo;
  }

  set options(options: SecretOptions) {
    this.#options = options;
    this.#control ??= this.#create(options);
    this.#box.classList.toggle('multiline', options.multiline ?? false);
    this.#sizer.classList.toggle('multiline', options.multiline ?? false);
    const { note } = options;
    const states = {
      'aria-label': options.label,
      'aria-required': String(options.required ?? false),
      'aria-invalid': String(note?.bad ?? false),
    };
    for (const [name, text] of Object.entries(states)) this.#control.setAttribute(name, text);
    if (options.placeholder) this.#control.placeholder = options.placeholder;
    else this.#control.removeAttribute('placeholder');
    this.#paint();
  }

  connectedCallback(): void {
    if (supportsTopLayer) {
      this.#box.popover = 'manual';
      this.#box.showPopover();
    }
    this.#resized.observe(this.#inner);
    this.#watch = watchVisibility(this.#inner, () => this.#updateState());
  }

  disconnectedCallback(): void {
    this.#resized.disconnect();
    this.#watch?.stop();
    this.#watch = undefined;
    this.#waiting = [];
    this.#setFocused(false);
    clearTimeout(this.#coverCheck);
  }

  /** Redraws the text in the current colors. */
  redraw(): void {
    this.#draw();
  }

  #create({ multiline, plain }: SecretOptions): HTMLInputElement | HTMLTextAreaElement {
    const control = document.createElement(multiline ? 'textarea' : 'input');
    for (const [name, text] of Object.entries(attributes)) control.setAttribute(name, text);
    if (control instanceof HTMLTextAreaElement) control.wrap = 'off';
    this.#shown = plain ?? false;
    const canvas = document.createElement('canvas');
    this.#screen = new SecretScreen(canvas);
    this.#sizer.className = 'sizer';
    this.#sizer.ariaHidden = 'true';
    this.#box.className = 'box';
    this.#inner.className = 'inner';
    this.#below.className = 'below';
    this.#inner.append(control, canvas, this.#below);
    this.#box.append(this.#inner);
    this.#root.adoptedStyleSheets = secretSheets;
    this.#root.append(this.#sizer, this.#box);

    this.#listen(control);
    this.#listenToPointer(control, canvas);
    return control;
  }

  #listen(control: HTMLElement): void {
    control.addEventListener('input', () => this.#paint());
    control.addEventListener('keydown', (event) => this.#onKey(event));
    control.addEventListener('beforeinput', (event) => this.#onBeforeInput(event));
    control.addEventListener('paste', (event) => {
      event.preventDefault();
      this.#insert(event.clipboardData?.getData('text/plain') ?? '');
    });
    control.addEventListener('drop', (event) => {
      // The field around the control handles files.
      if (event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      control.focus({ preventScroll: true });
      this.#insert(event.dataTransfer?.getData('text/plain') ?? '');
    });
    for (const type of ['copy', 'cut'] as const)
      control.addEventListener(type, (event) => {
        if (!this.#shown) event.preventDefault();
      });
    control.addEventListener('focus', () => this.#setFocused(true));
    control.addEventListener('blur', () => this.#setFocused(false));
  }

  #listenToPointer(control: HTMLElement, canvas: HTMLElement): void {
    const offsetAt = ({ clientX, clientY }: MouseEvent): number => {
      const { left, top } = canvas.getBoundingClientRect();
      return this.#screen?.offsetAt(clientX - left, clientY - top) ?? 0;
    };
    let isMouse = false;
    const select = (event: MouseEvent, extend: boolean): void => {
      const caret = offsetAt(event);
      const state = this.#state();
      this.#apply({ ...state, anchor: extend ? state.anchor : caret, caret });
    };
    control.addEventListener('pointerdown', (event) => {
      isMouse = event.pointerType === 'mouse';
      if (isMouse && event.button === 0) control.setPointerCapture(event.pointerId);
    });
    // The browser would place the caret where there is no text, and scroll while the pointer is
    // dragged out of the control.
    control.addEventListener('mousedown', (event) => {
      if (!isMouse || event.button !== 0) return;
      event.preventDefault();
      control.focus({ preventScroll: true });
      if (event.detail === 1) select(event, event.shiftKey);
      else this.#apply({ ...this.#state(), anchor: 0, caret: this.value.length });
    });
    control.addEventListener('pointermove', (event) => {
      if (isMouse && control.hasPointerCapture(event.pointerId)) select(event, true);
    });
    // A tap focuses the control natively, and a long press opens the menu with "Paste".
    control.addEventListener('click', (event) => {
      if (!isMouse && event.detail === 1) select(event, false);
    });
  }

  #setFocused(focused: boolean): void {
    if (focused === this.#focused) return;
    this.#focused = focused;
    clearInterval(this.#blink);
    const onSelection = this.#onSelection;
    if (focused) {
      document.addEventListener('selectionchange', onSelection);
      if (!matchMedia('(prefers-reduced-motion: reduce)').matches)
        this.#blink = setInterval(() => {
          this.#caretOn = !this.#caretOn;
          this.#draw();
        }, BLINK_MS);
      // The browser scrolls only as far as the caret, so scroll the whole control into view. On
      // focus only: a scroll on each key press would let the host page count them.
      this.#scrollIntoView();
      void this.#check();
      this.#scheduleCoverCheck();
    } else document.removeEventListener('selectionchange', onSelection);
    this.#caretOn = true;
    this.#updateState();
  }

  readonly #onSelection = (): void => {
    this.#caretOn = true;
    this.#draw();
  };

  get #lines(): Lines {
    return this.#screen?.layout ?? noLines;
  }

  #state(): TextState {
    const control = this.#control;
    const { value: text = '', selectionStart, selectionEnd, selectionDirection } = control ?? {};
    const [start, end] = [selectionStart ?? text.length, selectionEnd ?? text.length];
    return selectionDirection === 'backward'
      ? { text, anchor: end, caret: start }
      : { text, anchor: start, caret: end };
  }

  #onKey(event: KeyboardEvent): void {
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (event.isComposing) return;
    const { multiline } = this.#options ?? {};
    const command = isApple ? metaKey : ctrlKey;
    const perform = (edit: (state: TextState) => TextState): void => {
      event.preventDefault();
      this.#edit(edit);
    };
    if (isMove(key)) {
      const far = isApple ? metaKey : ctrlKey && !/Left|Right/.test(key);
      const move = { key, extend: shiftKey, word: isApple ? altKey : ctrlKey, far };
      perform((state) => moveCaret(state, move, this.#lines, !this.#shown));
    } else if (key === 'Backspace' || key === 'Delete') {
      const word = isApple ? altKey : ctrlKey;
      const unit = isApple && metaKey ? 'SoftLine' : word ? 'Word' : 'Content';
      const inputType = `delete${unit}${key === 'Delete' ? 'Forward' : 'Backward'}`;
      perform((state) => deleteText(state, inputType, this.#lines, !this.#shown));
    } else if (command && key === 'a') perform(({ text }) => ({ text, anchor: 0, caret: text.length }));
    else if (command && !altKey && /^[zy]$/i.test(key)) {
      event.preventDefault();
      this.#timeTravel(key.toLowerCase() === 'y' || shiftKey);
    } else if (key === 'Enter') {
      // An input in a shadow root has no form, so Enter would do nothing.
      if (!multiline) this.closest('form')?.requestSubmit();
      else if (!command) perform((state) => insertText(state, '\n'));
    } else if (isPrintable(event)) perform((state) => insertText(state, key));
  }

  #onBeforeInput(event: InputEvent): void {
    const { inputType } = event;
    // An input method edits the control natively; its text is read from the control afterwards.
    if (event.isComposing || !event.cancelable || inputType.includes('Composition')) return;
    event.preventDefault();
    if (inputType.startsWith('history')) this.#timeTravel(inputType === 'historyRedo');
    else if (inputType.startsWith('delete'))
      this.#edit((state) => deleteText(state, inputType, this.#lines, !this.#shown));
    else if (inputType === 'insertLineBreak' || inputType === 'insertParagraph') this.#insert('\n');
    else this.#insert(event.data ?? event.dataTransfer?.getData('text/plain') ?? '');
  }

  /** Scrolls the whole control into view, and applies the queued edits if it is visible. */
  async settled(): Promise<void> {
    if (this.#waiting.length === 0) return;
    this.#scrollIntoView();
    if (takesInput(await this.#watch?.certain())) this.#makeWaitingEdits();
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
    await this.#checkDestination();
    return this.destinationSeen;
  }

  /**
   * Checks twice whether the line that names where the value will be sent is visible with its
   * current text. What this process knows of the embedding pages may be one or two frames old, and
   * a page could change the line and hide it immediately.
   */
  async #checkDestination(): Promise<void> {
    const sentTo = this.#options?.sentTo;
    for (let looks = 0; looks < 2; looks += 1) {
      if (looks > 0) await new Promise((resolve) => setTimeout(resolve, SEEN_MS));
      if ((await this.#watch?.certain()) !== 'visible' || this.#options?.sentTo !== sentTo) return;
    }
    this.#seen = sentTo;
  }

  /** Replaces all of the text if the control is visible. Returns whether it was. */
  async replaceText(text: string): Promise<boolean> {
    const seen = takesInput(await this.#watch?.check());
    if (seen) this.#apply({ text, anchor: text.length, caret: text.length }, true);
    else this.focus();
    return seen;
  }

  #insert(text: string): void {
    const { multiline } = this.#options ?? {};
    const inserted = multiline ? text.replaceAll(/\r\n?/g, '\n') : text.replaceAll(/[\r\n]/g, '');
    // Inserting nothing must not replace the selection: Firefox asks for a line break on Enter in
    // an input, too.
    if (inserted) this.#edit((state) => insertText(state, inserted));
  }

  /**
   * Applies an edit immediately, or once the control is known to be visible. Edits in a hidden
   * control are dropped; if the user has left the control meanwhile, they wait until it is visible
   * again.
   */
  #edit(edit: (state: TextState) => TextState): void {
    this.#waiting.push(() => this.#apply(edit(this.#state()), true));
    if (takesInput(this.#watch?.visibility)) this.#makeWaitingEdits();
    else void this.#check();
    this.#scheduleCoverCheck();
  }

  #makeWaitingEdits(): void {
    const edits = this.#waiting.splice(0);
    for (const run of edits) run();
    // Focus left before the edits were applied: fire `blur` again for listeners that act on the
    // final value.
    if (edits.length > 0 && !this.#focused) this.dispatchEvent(new FocusEvent('blur'));
  }

  #scheduleCoverCheck(): void {
    if (this.#coverCheck !== undefined) return;
    this.#coverCheck = setTimeout(() => {
      this.#coverCheck = undefined;
      if (this.#focused) void this.#checkDestination();
    }, COVER_LOOK_MS);
  }

  /** Checks the visibility again and acts on it. */
  async #check(): Promise<void> {
    await this.#watch?.check();
    this.#updateState();
  }

  /** Acts on the last known visibility: applies the queued edits, or blocks input. */
  #updateState(): void {
    const visibility = this.#watch?.visibility;
    const isHidden = visibility === 'clipped' || visibility === 'covered';
    if (takesInput(visibility)) this.#makeWaitingEdits();
    if (!isHidden || !this.#focused) {
      clearTimeout(this.#blocking);
      this.#blocking = undefined;
      this.#blocked = undefined;
    } else if (this.#blocked) {
      this.#waiting = [];
      this.#blocked = visibility;
    } else
      this.#blocking ??= setTimeout(() => {
        this.#waiting = [];
        this.#blocked = visibility;
        this.#paint();
        if (visibility === 'covered') this.dispatchEvent(new Event('covered', { bubbles: true }));
      }, BLOCK_MS);
    this.#paint();
  }

  #scrollIntoView(): void {
    this.#inner.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
  }

  #apply({ text, anchor, caret }: TextState, remember = false): void {
    const control = this.#control;
    if (!control) return;
    const before = this.#state();
    if (text !== before.text) {
      if (remember) {
        this.#past.push(before);
        this.#future = [];
      }
      control.value = text;
    }
    control.setSelectionRange(
      Math.min(anchor, caret),
      Math.max(anchor, caret),
      caret < anchor ? 'backward' : 'forward',
    );
    this.#caretOn = true;
    if (text === before.text) this.#draw();
    else control.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  }

  #timeTravel(forward: boolean): void {
    this.#edit((state) => {
      const [from, to] = forward ? [this.#future, this.#past] : [this.#past, this.#future];
      const target = from.pop();
      if (!target) return state;
      to.push(state);
      // Apply it here without `remember`: the outer `#apply` would record it as a new edit.
      this.#apply(target);
      return target;
    });
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#inner;
    const control = this.#control;
    if (!control || width === 0) return;
    // The content is one pixel wide and one line high; the rest of the box is border.
    const { style } = control;
    const line = control instanceof HTMLTextAreaElement ? 20 : SCALE;
    style.height = `${line}px`;
    style.borderWidth = `0 ${SCALE * (width - INSET) - 1}px ${SCALE * height - line}px ${SCALE * INSET}px`;
    this.#draw();
  }

  #paint(): void {
    const control = this.#control;
    if (!control || !this.#options) return;
    const { messages: m, label, description, plain, sentTo, longestNote, placeholder } = this.#options;
    const shown = this.#shown;
    control.classList.toggle('masked', !shown);
    // Setting even the same type would make the browser rebuild the field.
    const type = shown ? 'text' : 'password';
    if (control instanceof HTMLInputElement && control.type !== type) control.type = type;
    const blocked = this.#blocked;
    // Input from an input method cannot be canceled, so the control must be read-only.
    control.readOnly = blocked !== undefined;
    const note = blocked
      ? { text: m[blocked === 'clipped' ? 'secretClipped' : 'secretCovered'], bad: true }
      : this.#options.note;
    this.#box.classList.toggle('invalid', note?.bad ?? false);
    const toggle = (): void => {
      this.#shown = !shown;
      this.#paint();
    };
    render(
      html`<div class="field">
          <div class="line"></div>
          ${sentTo ? sentLine(sentTo, blank) : nothing}
        </div>
        <p class="note">${blank}<span>${longestNote}</span></p>`,
      this.#sizer,
    );
    render(
      html`<div class="field">
          <div class="line" aria-hidden="true">
            <span ?hidden=${this.value !== ''}>${placeholder ?? ''}</span>
          </div>
          <div id="sent">${sentTo ? sentLine(sentTo, this.#lock) : nothing}</div>
        </div>
        <button type="button" ?hidden=${plain || !this.value} @click=${toggle}>
          <span aria-hidden="true">${shown ? m.hide : m.show}</span>
          <span class="unseen">${shown ? m.hideSecret(label) : m.showSecret(label)}</span>
        </button>
        <p class="note ${note?.bad ? 'bad' : ''}" id="note" role="status">
          ${note?.bad ? this.#alert : nothing}<span>${note?.text ?? ''}</span>
        </p>
        <span id="about" hidden>${description}</span>`,
      this.#below,
    );
    this.#draw();
  }

  #draw(): void {
    this.#screen?.draw({
      ...this.#state(),
      masked: !this.#shown,
      multiline: this.#options?.multiline ?? false,
      focused: this.#focused,
      caretOn: this.#caretOn,
    });
  }
}

const sentLine = (text: string, lock: unknown): unknown => html`<p class="sent">${lock}<span>${text}</span></p>`;

/** Returns all secret controls of the form. */
export const secretControls = (): SecretControl[] =>
  Array.from(document.querySelectorAll('cf-secret')).filter((element) => element instanceof SecretControl);

const blank = html`<svg width="16" height="16"></svg>`;

const noLines: Lines = { around: (offset) => ({ start: 0, end: offset }), below: (offset) => offset };

/**
 * Returns whether a key press writes a character. Keys that the browser composes into one (dead
 * keys, input methods) do not.
 */
function isPrintable(event: KeyboardEvent): boolean {
  const { key, altKey, ctrlKey, metaKey } = event;
  const writes = event.getModifierState('AltGraph') || !(altKey || ctrlKey);
  return !metaKey && writes && key !== 'Dead' && Array.from(key).length === 1;
}
