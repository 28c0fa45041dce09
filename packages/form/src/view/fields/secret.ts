import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { SecretField } from '../../model/field.js';
import { bind } from '../control.js';
import { focusPathSoon, idOf } from '../focus.js';
import { SecretControl } from '../protected/secret-control.js';
import type { SecretNote, SecretOptions } from '../protected/secret-template.js';
import type { View } from '../view.js';
import { accountOffer, connectedAs } from './account.js';
import { fromFile } from './file.js';
import { link } from './link.js';
import { pair, rows } from './list.js';
import { fieldHead, note, noteId, shell } from './shell.js';

customElements.define('cf-secret', SecretControl);

/** Renders one secret: the row of a stored or cleared one, or the control to enter it. */
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
  const offer = form.account(path);
  const account = kept ? secret.kept.account : undefined;
  if (secret.state === 'connected') {
    const row = html`<div class="cf-kept">
      <p>${connectedAs(view, secret.account)}</p>
      ${keep(m.undo)}
    </div>`;
    return shell(view, field, path, () => row, { group: true });
  }
  if (kept || secret.state === 'cleared') {
    const row = kept
      ? html`<div class="cf-kept">
          <p>
            ${account ? connectedAs(view, account.name) : m.secretKept}
            <span class="cf-since">· ${m.secretSince(secret.kept.updatedAt)}</span>
          </p>
          ${act(m.replace, m.replaceSecret(label), 'replaceSecret')}
          ${required ? nothing : act(m.clear, m.clearSecret(label), 'clearSecret')}
        </div>`
      : html`<div class="cf-kept cf-cleared">
          <p>${m.secretCleared}</p>
          ${keep(m.undo)}
        </div>`;
    // A stored account can be connected again.
    const again = account && offer ? accountOffer(view, path, offer) : nothing;
    return shell(view, field, path, () => [row, again], { group: true });
  }
  // Nothing here may depend on user input: the host's style sheets could turn it into a height.
  const id = idOf(path);
  const isMap = shape === 'map';
  const help = note(noteId(id), field.help, false);
  const undo = secret.state === 'typing' && secret.replaces && !secret.again;
  const connect = offer ? accountOffer(view, path, offer) : nothing;
  const controls = [
    connect,
    entry(view, field, path),
    undo ? html`<p class="cf-more">${keep(m.keepSaved)}</p>` : nothing,
  ];
  const head = fieldHead(view, field, id, isMap);
  if (!isMap) return html`<div class="cf-field cf-secret">${head}${help}${controls}</div>`;
  const error = emptyMapError(view, path) && noteId(id, 1);
  const describedBy = [error, field.help && noteId(id)].filter(Boolean).join(' ');
  return html`<div
    class="cf-field cf-secret"
    id=${id}
    role="group"
    aria-labelledby="${id}-label"
    aria-describedby=${describedBy || nothing}
  >
    ${head}${help}${controls}
  </div>`;
}

/** Returns the error of a map without rows, which has no control that could display it. */
const emptyMapError = ({ form }: View, path: string): string | undefined =>
  form.rows(path) === 0 ? form.error(path) : undefined;

function entry(view: View, field: SecretField, path: string): unknown {
  const { form, messages: m } = view;
  const { shape, label, help = '', required } = field;
  const state = form.secret(path);
  const again = state.state === 'reentry' || (state.state === 'typing' && state.again === true);
  const placeholder = again ? m.secretAgain(label) : field.placeholder;
  const longestNote = longest([
    ...form.possibleErrors(path),
    m.secretClipped,
    m.secretCovered,
    ...fileNotes(view, field),
  ]);
  if (shape === 'map') {
    // A map is one secret: its names are hidden from style sheets like its values. Its first row,
    // if any, displays the errors of the map as a whole.
    const first = `${path}/0/value`;
    const row = pair(view, (at, word, name, isKey) =>
      view.fragment(at, () => {
        const about = isKey ? { plain: true } : { sentTo: form.sentTo(path) };
        const error = form.error(at) ?? (at === first ? form.error(path) : undefined);
        const options = { label: name, description: '', placeholder: word, longestNote, ...about };
        return html`<div class="cf-cell">${control(view, at, options, error)}</div>`;
      }),
    );
    view.repaint(first);
    return [rows(view, path, label, row), note(noteId(idOf(path), 1), emptyMapError(view, path), true)];
  }
  const multiline = shape !== 'line';
  const single = control(view, path, {
    label,
    description: help,
    placeholder,
    required,
    multiline,
    sentTo: form.sentTo(path),
    longestNote,
  });
  return shape === 'json' || shape === 'pem' ? fromFile(view, path, { ...field, shape }, single, true) : single;
}

const longest = (texts: readonly string[]): string =>
  texts.reduce((one, other) => (other.length > one.length ? other : one), '');

const fileNotes = ({ messages: m }: View, { shape }: SecretField): string[] =>
  shape === 'json' || shape === 'pem' ? [m.fileTooLarge, m.fileUnread, m.fileRead('x'.repeat(40))] : [];

function control(
  view: View,
  path: string,
  options: Omit<SecretOptions, 'messages' | 'note'>,
  error = view.form.error(path),
): TemplateResult {
  const { messages, remarks } = view;
  const shown: SecretNote | undefined = error ? { text: error, bad: true } : remarks.get(path);
  const outside = { id: idOf(path), describedBy: '', invalid: false };
  return html`<cf-secret .options=${{ ...options, messages, note: shown }} ${bind(view, path, outside)}></cf-secret>`;
}
