import { html, type TemplateResult } from 'lit/html.js';
import type { MapField, ObjectListField, StringListField } from '../../model/field.js';
import type { Wiring } from '../control.js';
import { focusPathSoon, idOf } from '../focus.js';
import { icon } from '../icons.js';
import type { View } from '../view.js';
import { note, noteId, shell } from './shell.js';
import { line } from './text.js';

/** Template of one row. `name` is its accessible name. */
type Row = (path: string, name: string, position: number) => unknown;

/** Renders a list of strings, one per row. */
export function stringListField(view: View, field: StringListField, path: string): unknown {
  const { item } = field;
  const row: Row = (at, name) => cell(view, at, (wiring) => line(view, at, wiring, { ...item, name, required: false }));
  return shell(view, field, path, () => rows(view, path, item.label || field.label, row, field.maxItems), {
    group: true,
  });
}

/** Renders a list of flat objects, each as a card with its own fields. */
export function objectListField(view: View, field: ObjectListField, path: string): unknown {
  const row: Row = (at, name) =>
    html`<div class="cf-card" id=${idOf(at)} role="group" aria-label=${name}>
      <p class="cf-card-title" aria-hidden="true">${name}</p>
      ${field.columns.map((column) => view.field(column, `${at}/${column.key}`))}
    </div>`;
  return shell(view, field, path, () => rows(view, path, field.label, row, field.maxItems), { group: true });
}

/** Renders a map as rows of name and value. */
export function mapField(view: View, field: MapField, path: string): unknown {
  const row = pair(view, (at, placeholder, name) =>
    cell(view, at, (wiring) => line(view, at, wiring, { placeholder, name })),
  );
  return shell(view, field, path, () => rows(view, path, field.label, row, field.maxItems), { group: true });
}

/**
 * Returns the template of a row with two cells, name and value, which are stacked in a narrow
 * frame. `part` gets `name` as the accessible name and `placeholder` as the visible text.
 */
export function pair(
  view: View,
  part: (path: string, placeholder: string, name: string, isKey: boolean) => unknown,
): Row {
  const { messages: m } = view;
  const half = (path: string, word: string, position: number, isKey: boolean): unknown =>
    part(path, word, m.row(word, position), isKey);
  return (path, _name, position) =>
    html`<div class="cf-pair" id=${idOf(path)}>
      ${half(`${path}/key`, m.mapKey, position, true)} ${half(`${path}/value`, m.mapValue, position, false)}
    </div>`;
}

/** Renders a control without a label of its own, with its error below. */
function cell(view: View, path: string, control: (wiring: Wiring) => unknown): unknown {
  return view.fragment(path, () => {
    const id = idOf(path);
    const error = view.form.error(path);
    const wiring = { id, describedBy: error ? noteId(id) : '', invalid: error !== undefined };
    return html`<div class="cf-cell">${control(wiring)}${note(noteId(id), error, true)}</div>`;
  });
}

/**
 * Renders rows that can be added and removed. Enter in a filled row adds a row. Focus moves to a
 * new row and, after a removal, to the row in its place or to the Add button.
 */
export function rows(view: View, path: string, label: string, row: Row, most = Infinity): TemplateResult {
  const { form, messages: m } = view;
  const count = form.rows(path);
  const add = (): void => {
    if (count >= most) return;
    form.addRow(path);
    focusPathSoon(`${path}/${count}`);
    view.announce(m.rowAdded(label, count + 1));
  };
  const remove = (position: number): void => {
    form.removeRow(path, position - 1);
    view.repaint(path);
    const left = count - 1;
    focusPathSoon(path, left ? `.cf-row:nth-child(${Math.min(position, left)}) > .cf-remove` : '.cf-add');
    view.announce(m.rowRemoved(label, left));
  };
  const onKey = (event: KeyboardEvent): void => {
    const { key, isComposing, target } = event;
    if (key !== 'Enter' || isComposing || !(target instanceof HTMLInputElement) || !target.value) return;
    event.preventDefault();
    add();
  };
  return html`<div class="cf-rows" @keydown=${onKey}>
      ${Array.from({ length: count }, (_, index) => {
        const position = index + 1;
        return html`<div class="cf-row">
          ${row(`${path}/${index}`, m.row(label, position), position)}
          <button class="cf-remove" type="button" @click=${() => remove(position)}>
            ${icon('remove')}<span class="cf-hidden">${m.removeRow(label, position)}</span>
          </button>
        </div>`;
      })}
    </div>
    <button class="cf-add" type="button" ?disabled=${count >= most} @click=${add}>
      ${icon('plus')}<span aria-hidden="true">${m.add}</span><span class="cf-hidden">${m.addRow(label)}</span>
    </button>`;
}
