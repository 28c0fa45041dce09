import { render } from 'lit/html.js';
import { ownIcon } from '../icons.js';
import { inputCommand, insertion, keyCommand, selectAll, type Edit } from './edit-commands.js';
import { EditableText } from './editable-text.js';
import { InputGate } from './input-gate.js';
import { createNativeControl, describeNativeControl, sizeNativeControl, type NativeControl } from './native-control.js';
import { listenToPointer } from './pointer-selection.js';
import { secretSheets } from './protected-sheets.js';
import { SecretScreen } from './screen.js';
import { belowTemplate, sizerTemplate, type SecretOptions } from './secret-template.js';
import type { TextState } from './text-edit.js';

const BLINK_MS = 530;

const supportsTopLayer = 'showPopover' in HTMLElement.prototype && CSS.supports('anchor-name: --a');

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
 *   that names where the value will be sent (`InputGate`).
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
  readonly #canvas = document.createElement('canvas');
  readonly #below = document.createElement('div');
  readonly #screen = new SecretScreen(this.#canvas);
  readonly #icons = { lock: ownIcon('lock'), alert: ownIcon('alert') };
  readonly #resized = new ResizeObserver(() => this.#resize());
  readonly #gate = new InputGate(this.#inner, {
    isFocused: () => this.#focused,
    sentTo: () => this.#options?.sentTo,
    onChange: () => this.#paint(),
    onCovered: () => this.dispatchEvent(new Event('covered', { bubbles: true })),
    // Fire `blur` again for listeners that act on the final value.
    onLateEdits: () => this.dispatchEvent(new FocusEvent('blur')),
  });
  #control: NativeControl | undefined;
  #text: EditableText | undefined;
  #options: SecretOptions | undefined;
  #shown = false;
  #focused = false;
  #caretOn = true;
  #blink: ReturnType<typeof setInterval> | undefined;

  get value(): string {
    return this.#control?.value ?? '';
  }

  /** Must be set after `options`. */
  set value(value: string) {
    if (!this.#text || value === this.value) return;
    this.#text.reset(value);
    this.#paint();
  }

  /** Whether the line that names where the value will be sent was visible with its current text. */
  get destinationSeen(): boolean {
    return this.#gate.destinationSeen;
  }

  set options(options: SecretOptions) {
    this.#options = options;
    this.#control ??= this.#create(options);
    this.#box.classList.toggle('multiline', this.#multiline);
    this.#sizer.classList.toggle('multiline', this.#multiline);
    describeNativeControl(this.#control, options);
    this.#paint();
  }

  connectedCallback(): void {
    if (supportsTopLayer) {
      this.#box.popover = 'manual';
      this.#box.showPopover();
    }
    this.#resized.observe(this.#inner);
    this.#gate.start();
  }

  disconnectedCallback(): void {
    this.#resized.disconnect();
    this.#gate.stop();
    this.#setFocused(false);
  }

  /** Scrolls the whole control into view, and applies the queued edits if it is visible. */
  settled(): Promise<void> {
    return this.#gate.settled();
  }

  /**
   * Returns whether the user could see where the value will be sent.
   *
   * @param scroll whether to scroll the whole control into view first, if the destination has not
   *   been seen
   */
  confirmDestination(scroll: boolean): Promise<boolean> {
    return this.#gate.confirmDestination(scroll);
  }

  /** Replaces all of the text if the control is visible. Returns whether it was. */
  async replaceText(text: string): Promise<boolean> {
    const isOpen = await this.#gate.isOpen();
    if (isOpen) this.#apply({ text, anchor: text.length, caret: text.length }, true);
    else this.focus();
    return isOpen;
  }

  get #multiline(): boolean {
    return this.#options?.multiline ?? false;
  }

  #create({ multiline, plain }: SecretOptions): NativeControl {
    const control = createNativeControl(multiline ?? false);
    this.#shown = plain ?? false;
    this.#sizer.className = 'sizer';
    this.#sizer.ariaHidden = 'true';
    this.#box.className = 'box';
    this.#inner.className = 'inner';
    this.#below.className = 'below';
    this.#inner.append(control, this.#canvas, this.#below);
    this.#box.append(this.#inner);
    this.#root.adoptedStyleSheets = secretSheets;
    this.#root.append(this.#sizer, this.#box);

    this.#listen(control);
    const text = (this.#text = new EditableText(control));
    listenToPointer(control, {
      selectTo: ({ clientX, clientY }, extend) => {
        const { left, top } = this.#canvas.getBoundingClientRect();
        const caret = this.#screen.offsetAt(clientX - left, clientY - top);
        const { state } = text;
        this.#apply({ ...state, anchor: extend ? state.anchor : caret, caret }, false);
      },
      selectAll: () => this.#apply(selectAll(text.state), false),
    });
    return control;
  }

  #listen(control: HTMLElement): void {
    control.addEventListener('input', () => this.#paint());
    control.addEventListener('keydown', (event) => this.#onKey(event));
    control.addEventListener('beforeinput', (event) => this.#onBeforeInput(event));
    control.addEventListener('paste', (event) => {
      event.preventDefault();
      this.#insert(event.clipboardData);
    });
    control.addEventListener('drop', (event) => {
      // The field around the control handles files.
      if (event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      control.focus({ preventScroll: true });
      this.#insert(event.dataTransfer);
    });
    for (const type of ['copy', 'cut'] as const)
      control.addEventListener(type, (event) => {
        if (!this.#shown) event.preventDefault();
      });
    control.addEventListener('focus', () => this.#setFocused(true));
    control.addEventListener('blur', () => this.#setFocused(false));
  }

  #onKey(event: KeyboardEvent): void {
    const command = keyCommand(event, this.#multiline);
    if (command === 'submit') this.closest('form')?.requestSubmit();
    else if (command) {
      event.preventDefault();
      this.#execute(command);
    }
  }

  #onBeforeInput(event: InputEvent): void {
    // An input method edits the control natively; its text is read from the control afterwards.
    if (event.isComposing || !event.cancelable || event.inputType.includes('Composition')) return;
    event.preventDefault();
    this.#execute(inputCommand(event, this.#multiline));
  }

  #insert(data: DataTransfer | null): void {
    this.#execute(insertion(data?.getData('text/plain') ?? '', this.#multiline));
  }

  #execute(command: Edit | 'undo' | 'redo' | undefined): void {
    if (!command) return;
    this.#gate.add(() => {
      const text = this.#text;
      if (typeof command === 'string') this.#apply(text?.step(command), false);
      else if (text) this.#apply(command(text.state, { lines: this.#screen.layout, masked: !this.#shown }), true);
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
          this.draw();
        }, BLINK_MS);
      this.#gate.focused();
    } else document.removeEventListener('selectionchange', onSelection);
    this.#caretOn = true;
    this.#gate.update();
  }

  readonly #onSelection = (): void => {
    this.#caretOn = true;
    this.draw();
  };

  #apply(state: TextState | undefined, remember: boolean): void {
    if (!state || !this.#text) return;
    const isChanged = this.#text.update(state, remember);
    this.#caretOn = true;
    if (isChanged) this.#control?.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    else this.draw();
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#inner;
    const control = this.#control;
    if (!control || width === 0) return;
    sizeNativeControl(control, width, height);
    this.draw();
  }

  #paint(): void {
    const control = this.#control;
    const options = this.#options;
    if (!control || !options) return;
    const { messages: m } = options;
    const shown = this.#shown;
    control.classList.toggle('masked', !shown);
    // Setting even the same type would make the browser rebuild the field.
    const type = shown ? 'text' : 'password';
    if (control instanceof HTMLInputElement && control.type !== type) control.type = type;
    const { blockedBy } = this.#gate;
    // Input from an input method cannot be canceled, so the control must be read-only.
    control.readOnly = blockedBy !== undefined;
    const note = blockedBy
      ? { text: m[blockedBy === 'clipped' ? 'secretClipped' : 'secretCovered'], bad: true }
      : options.note;
    this.#box.classList.toggle('invalid', note?.bad ?? false);
    const onToggle = (): void => {
      this.#shown = !shown;
      this.#paint();
    };
    render(sizerTemplate(options), this.#sizer);
    render(belowTemplate(options, { isEmpty: !this.value, shown, note, icons: this.#icons, onToggle }), this.#below);
    this.draw();
  }

  /** Draws the text in the current colors. */
  draw(): void {
    if (!this.#text) return;
    this.#screen.draw({
      ...this.#text.state,
      masked: !this.#shown,
      multiline: this.#multiline,
      focused: this.#focused,
      caretOn: this.#caretOn,
    });
  }
}

/** Returns all secret controls of the form. */
export const secretControls = (): SecretControl[] =>
  Array.from(document.querySelectorAll('cf-secret')).filter((element) => element instanceof SecretControl);
