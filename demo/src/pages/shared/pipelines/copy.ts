import { announce, button, write } from './dom.js';

/**
 * Creates a button that copies a text to the clipboard.
 * @param text returns the text, possibly after fetching it
 * @param fallback called with the text if the browser denies access to the clipboard
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
