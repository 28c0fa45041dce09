import type { DrivenElement, DrivenFrame, DrivenPage } from './driven.js';
import { eventually } from './eventually.js';

/** The form in a box of the page, as a person has it before them: real mouse, real keys. */
export interface Form {
  /** The window of the other site. Waits for it. */
  frame(): Promise<DrivenFrame>;
  /** Clicks into a field and types. */
  type(label: string, text: string): Promise<void>;
  press(button: string): Promise<void>;
  value(label: string): Promise<string>;
  /** Waits until the form says this. */
  says(text: string): Promise<void>;
}

export function formIn(page: DrivenPage, box: string): Form {
  const frame = (): Promise<DrivenFrame> =>
    eventually(`a frame in ${box}`, async () => {
      const iframe = await page.evaluateHandle((box) => contract.iframes(box)[0], box);
      const inside = await iframe.asElement()?.contentFrame();
      // Until its page has come, the frame is an empty one of the host's.
      return inside && (await inside.evaluate(() => location.origin !== 'null' && document.body !== null))
        ? inside
        : undefined;
    });
  const find = (role: 'field' | 'button', name: string): Promise<DrivenElement> =>
    eventually(`the ${role} ${name}`, async () => {
      const handle = await (await frame()).evaluateHandle(control, { role, name });
      return handle.asElement();
    });
  return {
    frame,
    async type(label, text) {
      await click(await find('field', label));
      await page.keyboard.type(text);
    },
    press: async (button) => click(await find('button', button)),
    value: async (label) => (await find('field', label)).evaluate((element) => Object(element).value),
    async says(text) {
      await eventually(`the words ${text}`, async () => {
        const said = await (await frame()).evaluate(() => document.body.innerText);
        return said.includes(text) || undefined;
      });
    },
  };
}

/**
 * Clicks until the click arrives: a browser drops one into a frame of another site that has just moved or grown, so that
 * nobody presses what has slid under the mouse. A person would press again.
 */
async function click(element: DrivenElement): Promise<void> {
  await eventually('a click', async () => {
    const arrived = await element.evaluateHandle((target) => {
      const seen = { click: false };
      // A frame out of sight gets no animation frames, which Playwright waits for. Frames above that come into sight grow.
      target.scrollIntoView({ block: 'nearest' });
      target.addEventListener('click', () => (seen.click = true), { once: true });
      return seen;
    });
    await element.click();
    return (await arrived.evaluate(({ click }) => click)) || undefined;
  });
}

/** Runs in the frame. A field goes by its label, a button by its words, in shadow roots too; what is hidden is not there. */
function control({ role, name }: { role: 'field' | 'button'; name: string }): HTMLElement | null {
  const roots: ParentNode[] = [document];
  for (const root of roots) {
    for (const element of root.querySelectorAll<HTMLElement>('*')) {
      if (element.shadowRoot) roots.push(element.shadowRoot);
      const isField = element.matches('input, textarea, select');
      if (isField !== (role === 'field') || (!isField && !element.matches('button'))) continue;
      const words = isField
        ? (element.ariaLabel ?? (element as HTMLInputElement).labels?.[0]?.textContent)
        : element.textContent;
      if (words?.trim() === name && element.checkVisibility()) return element;
    }
  }
  return null;
}
