import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { SecretField } from '../../model/field.js';
import { bind, type Wiring } from '../control.js';
import { focusPathSoon } from '../focus.js';
import { SecretControl, type SecretOptions } from '../secret-control.js';
import type { View } from '../view.js';
import { fromFile } from './file.js';
import { link } from './link.js';
import { cell, pair, rows } from './list.js';
import { shell } from './shell.js';

customElements.define('cf-secret', SecretControl);

/** One secret: the row of a kept one, or the control to enter it. */
export function secretField(view: View, field: SecretField, path: string): unknown {
  const { form, messages: m } = view;
  const { label, required, shape } = field;
  const secret = form.secret(path);
  const act = (word: string, sentence: string, action: 'replaceSecret' | 'keepSecret' | 'clearSecret'): unknown =>
    link(word, sentence, () => {
      form[action](path);
      focusPathSoon(path);
    });
  const keep = (word: string): unknown => act(word, m.undoSecret(label), 'keepSecret');
  switch (secret.state) {
    case 'kept':
      return shell(
        view,
        field,
        path,
        () =>
          html`<div class="cf-kept">
            <p>${m.secretKept} <span class="cf-since">· ${m.secretSince(secret.kept.updatedAt)}</span></p>
            ${act(m.replace, m.replaceSecret(label), 'replaceSecret')}
            ${required ? nothing : act(m.clear, m.clearSecret(label), 'clearSecret')}
          </div>`,
        { names: 'group' },
      );
    case 'cleared':
      return shell(
        view,
        field,
        path,
        () =>
          html`<div class="cf-kept cf-cleared">
            <p>${m.secretCleared}</p>
            ${keep(m.undo)}
          </div>`,
        { names: 'group' },
      );
    default: {
      const undo = secret.state === 'typing' && secret.replaces;
      const placeholder = secret.state === 'reentry' ? m.secretAgain(label) : field.placeholder;
      return shell(
        view,
        field,
        path,
        (wiring) => [
          entry(view, placeholder ? { ...field, placeholder } : field, path, wiring),
          undo ? html`<p class="cf-more">${keep(m.keepSaved)}</p>` : nothing,
        ],
        { names: shape === 'map' ? 'group' : 'control' },
      );
    }
  }
}

function entry(view: View, field: SecretField, path: string, wiring: Wiring): unknown {
  const { shape } = field;
  if (shape === 'map') {
    // A map is one secret as a whole: its names are kept from style sheets as its values are.
    const part = pair(view, (at, placeholder, label, plain) =>
      cell(view, at, (cellWiring) => control(view, at, cellWiring, { label, placeholder, plain })),
    );
    return rows(view, path, field.label, undefined, part);
  }
  const single = control(view, path, wiring, { ...field, multiline: shape !== 'line' });
  return shape === 'json' || shape === 'pem' ? fromFile(view, { ...field, path, format: shape }, single) : single;
}

function control(
  view: View,
  path: string,
  wiring: Wiring,
  given: Omit<SecretOptions, keyof Wiring | 'messages'>,
): TemplateResult {
  const { messages } = view;
  const { label, placeholder, required, multiline, plain } = given;
  const { description, invalid } = wiring;
  const options = { messages, label, placeholder, required, multiline, plain, description, invalid };
  return html`<cf-secret
    .options=${options}
    ${bind(view, path, { ...wiring, describedBy: '', invalid: false })}
  ></cf-secret>`;
}
