import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { Field, MapField, ObjectListField, StringListField } from '../../model/field.js';
import type { Wiring } from '../control.js';
import { focusPathSoon, idOf } from '../focus.js';
import { plusIcon, removeIcon } from '../icons.js';
import type { View } from '../view.js';
import { note, shell } from './shell.js';
import { line } from './text.js';

/** Texts, one a row. */
export function stringListField(view: View, field: StringListField, path: string): unknown {
  const row = (at: string, name: string): unknown =>
    cell(view, at, (wiring) => line(view, at, wiring, { ...field.item, name, required: false }));
  return rowsField(view, field, path, row, field.item.label);
}

/** Flat objects, each a small form of its own. */
export function objectListField(view: View, field: ObjectListField, path: string): unknown {
  const row = (at: string, name: string): unknown =>
    html`<div class="cf-card" role="group" id=${idOf(at)} aria-label=${name}>
      <p class="cf-card-title" aria-hidden="true">${name}</p>
      ${field.columns.map((column) => view.field(column, `${at}/${column.key}`))}
    </div>`;
  return rowsField(view, field, path, row);
}

/** Names and values. */
export function mapField(view: View, field: MapField, path: string): unknown {
  return rowsField(
    view,
    field,
    path,
    pair(view, (at, word, name) => cell(view, at, (wiring) => line(view, at, wiring, { name, placeholder: word }))),
  );
}

/** A row of two cells, name and value; stacked where there is no room. `name` is for the ear, `word` for the eye. */
export function pair(
  { messages: m }: View,
  part: (path: string, word: string, name: string, isKey: boolean) => unknown,
): (path: string, name: string, index: number) => TemplateResult {
  return (path, _name, index) =>
    html`<div class="cf-pair" id=${idOf(path)}>
      ${part(`${path}/key`, m.mapKey, m.row(m.mapKey, index + 1), true)}
      ${part(`${path}/value`, m.mapValue, m.row(m.mapValue, index + 1), false)}
    </div>`;
}

/** A control without a label of its own, with its error below. */
export function cell(view: View, path: string, control: (wiring: Wiring) => unknown): unknown {
  return view.island(path, () => {
    const id = idOf(path);
    const description = view.form.error(path) ?? '';
    const invalid = description !== '';
    const describedBy = invalid ? `${id}-1` : '';
    return html`<div class="cf-cell">
      ${control({ id, describedBy, description, invalid })}${note(`${id}-1`, description, true)}
    </div>`;
  });
}

/** Rows that can be added and removed. Focus follows: to a new row, and after a removal to what took its place. */
export function rowsField(
  view: View,
  field: Field & { maxItems?: number },
  path: string,
  row: (path: string, name: string, index: number) => unknown,
  label = field.label,
): unknown {
  return shell(view, field, path, () => rows(view, path, label, field.maxItems, row), { names: 'group' });
}

/** The rows and "Add". Enter in a filled row goes on to the next one. */
export function rows(
  view: View,
  path: string,
  label: string,
  most = Infinity,
  row: (path: string, name: string, index: number) => unknown,
): TemplateResult {
  const { form, messages: m } = view;
  const count = form.rows(path);
  const add = (): void => {
    if (count >= most) return;
    form.addRow(path);
    focusPathSoon(`${path}/${count}`);
    view.announce(m.rowAdded(label, count + 1));
  };
  const remove = (index: number): void => {
    form.removeRow(path, index);
    view.repaint(path);
    const left = count - 1;
    focusPathSoon(path, left ? `.cf-row:nth-child(${Math.min(index + 1, left)}) > .cf-remove` : '.cf-add');
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
        const name = m.row(label, index + 1);
        return html`<div class="cf-row">
          ${row(`${path}/${index}`, name, index)}
          <button class="cf-remove" type="button" @click=${() => remove(index)}>
            ${removeIcon}<span class="cf-hidden">${m.removeRow(label, index + 1)}</span>
          </button>
        </div>`;
      })}
    </div>
    <button class="cf-add" type="button" ?disabled=${count >= most} @click=${add}>
      ${plusIcon}<span aria-hidden="true">${m.add}</span><span class="cf-hidden">${m.addRow(label)}</span>
    </button>`;
}
