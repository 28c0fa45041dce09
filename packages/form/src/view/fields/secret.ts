import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { SecretField } from '../../model/field.js';
import { bind, type Wiring } from '../control.js';
import { focusPathSoon } from '../focus.js';
import { SecretControl, type SecretOptions } from '../secret-control.js';
import type { View } from '../view.js';
import { fromFile } from './file.js';
import { link } from './link.js';
import { pair, rows } from './list.js';
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
  const kept = secret.state === 'kept';
  if (kept || secret.state === 'cleared') {
    const row = kept
      ? html`<div class="cf-kept">
          <p>${m.secretKept} <span class="cf-since">· ${m.secretSince(secret.kept.updatedAt)}</span></p>
          ${act(m.replace, m.replaceSecret(label), 'replaceSecret')}
          ${required ? nothing : act(m.clear, m.clearSecret(label), 'clearSecret')}
        </div>`
      : html`<div class="cf-kept cf-cleared">
          <p>${m.secretCleared}</p>
          ${keep(m.undo)}
        </div>`;
    return shell(view, field, path, () => row, { group: true });
  }
  const undo = secret.state === 'typing' && secret.replaces;
  const placeholder = secret.state === 'reentry' ? m.secretAgain(label) : field.placeholder;
  return shell(
    view,
    field,
    path,
    (wiring) => [
      entry(view, { ...field, placeholder }, path, wiring),
      undo ? html`<p class="cf-more">${keep(m.keepSaved)}</p>` : nothing,
    ],
    { group: shape === 'map' },
  );
}

type Entry = Omit<SecretField, 'placeholder'> & { placeholder: string | undefined };

function entry(view: View, field: Entry, path: string, wiring: Wiring): unknown {
  const { shape, label } = field;
  if (shape === 'map') {
    // A map is one secret as a whole: its names are kept from style sheets as its values are.
    const row = pair(view, (at, inner, placeholder, name, plain) =>
      control(view, at, inner, { label: name, placeholder, plain }),
    );
    return rows(view, path, label, row);
  }
  const single = control(view, path, wiring, { ...field, multiline: shape !== 'line' });
  return shape === 'json' || shape === 'pem' ? fromFile(view, path, { ...field, shape }, single) : single;
}

function control(
  view: View,
  path: string,
  { id, description, invalid }: Wiring,
  { label, placeholder, required, multiline, plain }: Omit<SecretOptions, keyof Wiring | 'messages'>,
): TemplateResult {
  const { messages } = view;
  const options = { messages, description, invalid, label, placeholder, required, multiline, plain };
  const outside = { id, describedBy: '', description, invalid: false };
  return html`<cf-secret .options=${options} ${bind(view, path, outside)}></cf-secret>`;
}
