import { html, type TemplateResult } from 'lit/html.js';
import type { View } from '../view.js';
import { idOf } from '../focus.js';
import { SecretControl } from '../protected/secret-control.js';
import { link } from './link.js';

/**
 * A document that the user may choose from disk instead of pasting it. The frame reads it, and
 * sends it nowhere else.
 */
interface FileField {
  label: string;
  shape: 'json' | 'pem';
  maxLength?: number;
}

// In characters; the service accepts no longer string.
const LIMIT = 64 * 1024;

const accepts = { json: '.json', pem: '.pem,.key,.crt,.cer,.p8,.txt' };

type DropEvent = DragEvent & { currentTarget: HTMLElement };

/** Renders a control that accepts a dropped file, with a "Choose a file" link. */
export function fromFile(
  view: View,
  path: string,
  field: FileField,
  control: TemplateResult,
  isSecret = false,
): TemplateResult {
  const { messages: m } = view;
  const take = ([file]: Iterable<File>): void => {
    if (file) void read(view, path, field, file);
  };
  const onDrag = ({ currentTarget, dataTransfer, type }: DropEvent): void => {
    currentTarget.classList.toggle('cf-drop-over', type === 'dragover' && holdsFiles(dataTransfer));
    if (type === 'drop' && dataTransfer) take(dataTransfer.files);
  };
  const pick = (): void => {
    // Never in the document, so that no style sheet can measure the name of the chosen file.
    const chooser = document.createElement('input');
    chooser.type = 'file';
    chooser.accept = accepts[field.shape];
    chooser.addEventListener('change', () => take(chooser.files ?? []));
    chooser.click();
  };
  const choose = html`<p class="cf-more">
    ${link(m.chooseFile, m.chooseFileFor(field.label), pick)} <span class="cf-drop-hint">${m.dropFile}</span>
  </p>`;
  // A secret control reserves space for notes at its end, so the link is above it.
  return html`<div class="cf-drop" @dragover=${onDrag} @dragleave=${onDrag} @drop=${onDrag}>
    ${isSecret ? [choose, control] : [control, choose]}
  </div>`;
}

function holdsFiles(dataTransfer: DataTransfer | null): boolean {
  return dataTransfer?.types.includes('Files') ?? false;
}

/**
 * Ignores files dropped outside a control. The browser would otherwise open the file in place of
 * the form and discard all user input.
 */
export function ignoreStrayFiles(): void {
  for (const type of ['dragover', 'drop'] as const) {
    addEventListener(type, (event) => {
      if (holdsFiles(event.dataTransfer)) event.preventDefault();
    });
  }
}

async function read(view: View, path: string, { maxLength = LIMIT }: FileField, file: File): Promise<void> {
  const { messages: m, form } = view;
  // A character has at most four bytes, so a larger file is certainly too long: do not read it.
  const large = file.size > LIMIT * 4;
  const text = large ? '' : await file.text().catch(() => '\0');
  const problem =
    large || text.length > Math.min(maxLength, LIMIT) ? m.fileTooLarge : /[\0\ufffd]/.test(text) && m.fileUnread;
  const control = document.getElementById(idOf(path));
  const secret = control instanceof SecretControl ? control : undefined;
  if (!problem) {
    const read = text.replaceAll('\r\n', '\n');
    if (!secret) view.type(path, read);
    // A secret control that is not visible rejects the file, and displays the reason.
    else if (!(await secret.replaceText(read))) return;
    form.leave(path);
  }
  const note = problem || m.fileRead(file.name);
  view.remarks.set(path, { text: note, bad: !!problem });
  view.repaint(path);
  // A secret control announces its own notes: the host's style sheets could measure a live region
  // of the page.
  if (!secret) view.announce(form.error(path) ?? note);
}
