import { fixture, html, nextFrame } from '@open-wc/testing';
import { FakeForm, type Scene } from '../../packages/form/gallery/fake-form.js';
import { deriveTokens } from '../../packages/form/src/appearance/derive-tokens.js';
import en from '../../packages/form/src/messages/en.json' with { type: 'json' };
import { createMessages } from '../../packages/form/src/messages/index.js';
import type { Field } from '../../packages/form/src/model/field.js';
import adapt from '../../packages/form/src/view/css/adapt.css?inline';
import base from '../../packages/form/src/view/css/base.css?inline';
import fields from '../../packages/form/src/view/css/fields.css?inline';
import rows from '../../packages/form/src/view/css/rows.css?inline';
import { fieldTemplate } from '../../packages/form/src/view/fields/field.js';
import { View } from '../../packages/form/src/view/view.js';

/** One field of the form, rendered as the form renders it. */
export interface RenderedField {
  element: HTMLElement;
  /** The form behind it, which stores values and errors. */
  form: FakeForm;
  /** Texts announced to screen readers, in order. */
  announced: string[];
  /** Returns the element that a selector matches. */
  find(selector: string): HTMLElement;
  /** Returns the text of the elements that describe a control. */
  descriptionOf(control: Element): string;
}

/** Renders one field, with the form's style sheets. */
export async function renderField(field: Field, scene: Omit<Scene, 'state'> = {}): Promise<RenderedField> {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync([base, fields, rows, adapt].join('\n'));
  document.adoptedStyleSheets = [sheet];
  for (const [name, value] of Object.entries(deriveTokens({}, 'light')))
    document.documentElement.style.setProperty(`--cf-${name}`, value);

  const form = new FakeForm({ state: { phase: 'loading' }, ...scene });
  const announced: string[] = [];
  const view = new View(form, { messages: createMessages(en) }, (text) => announced.push(text), fieldTemplate);
  const element = await fixture<HTMLElement>(html`<main class="cf-root"></main>`);
  element.append(view.field(field));
  // A field renders when it is in the page.
  form.notify(field.path);
  await nextFrame();
  return {
    element,
    form,
    announced,
    find(selector) {
      const found = element.querySelector<HTMLElement>(selector);
      if (!found) throw new Error(`Nothing matches ${selector}`);
      return found;
    },
    descriptionOf: (control) =>
      (control.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((id) => document.getElementById(id)?.textContent.trim())
        .join(' '),
  };
}
