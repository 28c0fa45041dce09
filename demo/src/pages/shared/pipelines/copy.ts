import { announce, button, write } from './dom.js';

/**
 * A button that copies a text, which may first have to be asked for.
 * @param fallback shows the text where the browser lets nobody copy
 */
export function copyButton(
  about: string,
  text: () => string | Promise<string>,
  fallback: (text: string) => void = () => {},
): HTMLButtonElement {
  const self = button('Copy', about, 'secondary', () => void copy());
  const label = self.firstElementChild ?? self;
  async function copy(): Promise<void> {
    let copied: string | undefined;
    try {
      copied = await text();
      await navigator.clipboard.writeText(copied);
      write(label, 'Copied');
    } catch {
      write(label, 'Not copied');
      if (copied !== undefined) fallback(copied);
    }
    announce(label.textContent ?? '');
    setTimeout(() => write(label, 'Copy'), 2_000);
  }
  return self;
}
