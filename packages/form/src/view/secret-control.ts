import { html, render } from 'lit/html.js';
import type { Messages } from '../messages/index.js';
import { secretSheets } from './secret-sheet.js';

/** What stands around the value. None of it is secret. */
export interface SecretOptions {
  messages: Messages;
  /** Accessible name. */
  label: string;
  /** Help or error, read after the name. */
  description: string;
  invalid: boolean;
  placeholder?: string | undefined;
  required?: boolean | undefined;
  /** Fixed once shown. */
  multiline?: boolean | undefined;
  /** Never masked: the name of a row in a secret map. */
  plain?: boolean | undefined;
}

// Password managers are told, each in its own word, that this is none of theirs.
const quiet = {
  class: 'control',
  dir: 'auto',
  autocomplete: 'off',
  autocapitalize: 'none',
  autocorrect: 'off',
  spellcheck: 'false',
  'data-1p-ignore': '',
  'data-lpignore': 'true',
  'data-bwignore': '',
  'data-form-type': 'other',
  'aria-describedby': 'about',
};

/**
 * One text field for a secret, in a shadow root of its own, so that no style sheet of the host decides how the typed text is laid
 * out. Whatever a sheet could turn into a height or a request is out of its reach: size, font and containment are set with
 * `!important` from inside (`css/secret.css`), and the value is only ever a property, never an attribute or text in the document.
 *
 * The root is open: closed would keep style sheets out no better, and a host's own tests and the person's tools could not find the
 * field by its label.
 *
 * Fires `input` (composed, from inside), and `blur` when focus leaves the control as a whole.
 */
export class SecretControl extends HTMLElement {
  /** A click on its `<label for>` focuses it. It puts nothing into form data. */
  static readonly formAssociated = true;

  readonly #root = this.attachShadow({ mode: 'open', delegatesFocus: true });
  #control: HTMLInputElement | HTMLTextAreaElement | undefined;
  #options: SecretOptions | undefined;
  #shown = false;

  get value(): string {
    return this.#control?.value ?? '';
  }

  /** Set after `options`. */
  set value(value: string) {
    if (!this.#control || value === this.value) return;
    this.#control.value = value;
    this.#paint();
  }

  set options(options: SecretOptions) {
    this.#options = options;
    this.#control ??= this.#create(options);
    this.toggleAttribute('data-multiline', options.multiline ?? false);
    this.toggleAttribute('data-invalid', options.invalid);
    const attributes = {
      placeholder: options.placeholder ?? '',
      'aria-label': options.label,
      'aria-required': String(options.required ?? false),
      'aria-invalid': String(options.invalid),
    };
    for (const [name, text] of Object.entries(attributes)) this.#control.setAttribute(name, text);
    this.#paint();
  }

  #create({ multiline, plain }: SecretOptions): HTMLInputElement | HTMLTextAreaElement {
    const control = document.createElement(multiline ? 'textarea' : 'input');
    for (const [name, text] of Object.entries(quiet)) control.setAttribute(name, text);
    this.#shown = plain ?? false;
    control.addEventListener('input', () => this.#paint());
    const element: HTMLElement = control;
    element.addEventListener('keydown', ({ key, isComposing }) => {
      // An input in a shadow root has no form, so Enter would do nothing.
      if (key === 'Enter' && !isComposing && !multiline) this.closest('form')?.requestSubmit();
    });
    this.#root.adoptedStyleSheets = secretSheets;
    this.#root.append(control);
    return control;
  }

  #paint(): void {
    const control = this.#control;
    if (!control || !this.#options) return;
    const { messages: m, label, description, plain } = this.#options;
    const shown = this.#shown;
    control.classList.toggle('masked', !shown);
    // Even the type it has would make the browser build the field anew.
    const type = shown ? 'text' : 'password';
    if (control instanceof HTMLInputElement && control.type !== type) control.type = type;
    const toggle = (): void => {
      this.#shown = !shown;
      this.#paint();
    };
    // Inside the fixed box, so whether the button is there changes nothing outside of it.
    render(
      html`<button type="button" ?hidden=${plain || !this.value} @click=${toggle}>
          <span aria-hidden="true">${shown ? m.hide : m.show}</span>
          <span class="unseen">${shown ? m.hideSecret(label) : m.showSecret(label)}</span>
        </button>
        <span id="about" hidden>${description}</span>`,
      this.#root,
    );
  }
}
