import { html, type TemplateResult } from 'lit/html.js';
import type { View } from '../view.js';
import { link } from './link.js';

/** A document the person may pick from disk instead of pasting it. It is read here, in the frame, and goes nowhere else. */
interface FileField {
  path: string;
  label: string;
  format: 'json' | 'pem';
  maxLength?: number;
}

// The service takes no longer string.
const LIMIT = 64 * 1024;

const accepts = { json: '.json', pem: '.pem,.key,.crt,.cer,.p8,.txt' };

/** A control with "Choose a file" under it, that also takes a file dropped on it. */
export function fromFile(view: View, field: FileField, control: TemplateResult): TemplateResult {
  const { messages: m } = view;
  const mark = (event: DragEvent): void => {
    const { currentTarget, dataTransfer, type } = event;
    if (!dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    (currentTarget as HTMLElement).classList.toggle('cf-drop-over', type === 'dragover');
    const [dropped] = dataTransfer.files;
    if (type === 'drop' && dropped) void read(view, field, dropped);
  };
  return html`<div class="cf-drop" @dragover=${mark} @dragleave=${mark} @drop=${mark}>
    ${control}
    <p class="cf-more">
      ${link(m.chooseFile, m.chooseFileFor(field.label), () => pick(view, field))}
      <span class="cf-drop-hint">${m.dropFile}</span>
    </p>
  </div>`;
}

function pick(view: View, field: FileField): void {
  // Never in the document, so that no style sheet can lay out the name of what was chosen.
  const chooser = document.createElement('input');
  chooser.type = 'file';
  chooser.accept = accepts[field.format];
  chooser.onchange = () => {
    const [chosen] = chooser.files ?? [];
    if (chosen) void read(view, field, chosen);
  };
  chooser.click();
}

async function read(view: View, { path, maxLength = LIMIT }: FileField, file: File): Promise<void> {
  const { messages: m, form } = view;
  // A character takes up to four bytes: what is surely too long is not even read.
  const text = file.size > LIMIT * 4 ? undefined : await readText(file);
  const problem =
    text === undefined || text.length > Math.min(maxLength, LIMIT)
      ? m.fileTooLarge
      : /[\0\ufffd]/.test(text)
        ? m.fileUnreadable
        : undefined;
  if (!problem) {
    view.type(path, text);
    form.leave(path);
  }
  const remark = problem ?? m.fileRead(file.name);
  view.setRemark(path, { text: remark, bad: problem !== undefined });
  view.announce(form.error(path) ?? remark);
}

/** The file's text with plain line ends. What can't be read or is no text comes with a replacement character in it. */
function readText(file: File): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onerror = () => resolve('\ufffd');
    reader.onload = () => resolve(String(reader.result).replace(/\r\n?/g, '\n'));
    reader.readAsText(file);
  });
}
