import type { DrivenElement, DrivenFrame, DrivenPage } from './driven.js';
import { eventually } from './eventually.js';
import { described, locate, searchOf, type Target } from './locate.js';

/** A frame as a person uses it: real mouse, real keys. Each method waits for what it needs. */
export interface FrameUser {
  /** The window of the frame, once its document has loaded. */
  frame(): Promise<DrivenFrame>;
  /** Waits for a visible element. */
  find(target: Target): Promise<DrivenElement>;
  click(target: Target): Promise<void>;
  /** Moves focus by script: for a field that a click does not reach, because the page around it hides it. */
  focus(target: Target): Promise<void>;
  /** Clicks into a field and types. */
  type(label: string, text: string): Promise<void>;
  /** Clicks a button. */
  press(button: string): Promise<void>;
  value(label: string): Promise<string>;
  /** Waits until the frame shows this text, also in an open shadow root. */
  says(text: string): Promise<void>;
}

/**
 * The user of a frame.
 * @param iframe runs in the page (or in `within`) and returns the iframe; by default its first one, also in open shadow roots
 * @param within a frame that holds the iframe, instead of the page
 */
export function frameUser(
  page: DrivenPage,
  iframe: () => Promise<{ asElement(): DrivenElement | null }> = () =>
    page.evaluateHandle(locate, searchOf({ selector: 'iframe' })),
): FrameUser {
  const frame = (): Promise<DrivenFrame> =>
    eventually('a frame', async () => {
      const inside = await (await iframe()).asElement()?.contentFrame();
      // Until its page has come, the frame is an empty one of the host's.
      return inside && (await inside.evaluate(() => location.origin !== 'null' && document.body !== null))
        ? inside
        : undefined;
    });
  const find = (target: Target): Promise<DrivenElement> =>
    eventually(described(target), async () => {
      const handle = await (await frame()).evaluateHandle(locate, searchOf(target));
      return handle.asElement();
    });
  const click = async (target: Target): Promise<void> => clickOn(await find(target));
  return {
    frame,
    find,
    click,
    async focus(target) {
      await eventually(`focus on ${described(target)}`, async () => {
        const element = await find(target);
        const hasFocus = await element.evaluate((field) => {
          field.focus();
          return document.hasFocus() && (field.getRootNode() as Document | ShadowRoot).activeElement === field;
        });
        await element.reveal?.();
        // WebKit lets a frame of another site take focus only after a person has pressed something in it.
        if (!hasFocus) await page.keyboard.press('Shift');
        return hasFocus || undefined;
      });
    },
    async type(label, text) {
      await click({ label });
      await page.keyboard.type(text);
    },
    press: (name) => click({ role: 'button', name }),
    value: async (label) => (await find({ label })).evaluate((element) => Object(element).value),
    async says(text) {
      await eventually(`the words ${text}`, async () => {
        const said = await (await frame()).evaluate(shownText);
        return said.includes(text) || undefined;
      });
    },
  };
}

/** The text of a document and its open shadow roots. Runs in the page. */
function shownText(): string {
  const texts = [document.body.innerText];
  const roots: ParentNode[] = [document];
  for (const root of roots)
    for (const { shadowRoot } of root.querySelectorAll('*')) {
      if (!shadowRoot) continue;
      roots.push(shadowRoot);
      for (const child of shadowRoot.children) if (child instanceof HTMLElement) texts.push(child.innerText);
    }
  return texts.join('\n');
}

/**
 * Clicks until the click arrives: a browser drops a click into a frame of another site that has just moved or grown, as a
 * defence against clickjacking.
 */
export async function clickOn(element: DrivenElement): Promise<void> {
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
