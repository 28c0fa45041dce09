import type { DrivenElement, DrivenFrame, DrivenPage } from './driven.js';
import { eventually } from './eventually.js';
import { described, locate, searchOf, type Target } from './locate.js';

/**
 * Drives a frame as a user would, with real mouse and key input. Each method waits until its target
 * is available.
 */
export interface FrameUser {
  /** Returns the frame once its document has loaded. */
  frame(): Promise<DrivenFrame>;
  /** Waits for a visible element. */
  find(target: Target): Promise<DrivenElement>;
  click(target: Target): Promise<void>;
  /**
   * Moves focus by script, for a field that can't be clicked because the surrounding page hides it.
   */
  focus(target: Target): Promise<void>;
  /** Clicks into a field and types. */
  type(label: string, text: string): Promise<void>;
  /** Clicks a button. */
  press(button: string): Promise<void>;
  value(label: string): Promise<string>;
  /** Waits until the frame shows this text, including in open shadow roots. */
  says(text: string): Promise<void>;
}

/**
 * Creates the driver of a frame.
 * @param iframe runs in the page (or in `within`) and returns the iframe; defaults to the first
 *   one, including in open shadow roots
 * @param within the frame that contains the iframe, instead of the page
 */
export function frameUser(
  page: DrivenPage,
  iframe: () => Promise<{ asElement(): DrivenElement | null }> = () =>
    page.evaluateHandle(locate, searchOf({ selector: 'iframe' })),
): FrameUser {
  const frame = (): Promise<DrivenFrame> =>
    eventually('a frame', async () => {
      const inside = await (await iframe()).asElement()?.contentFrame();
      // Before its page has loaded, the frame holds an empty document of the host's origin.
      return inside && (await inside.evaluate(() => location.origin !== 'null' && document.body !== null))
        ? inside
        : undefined;
    });
  const find = (target: Target): Promise<DrivenElement> =>
    eventually(described(target), async () => {
      const handle = await (await frame()).evaluateHandle(locate, searchOf(target));
      return handle.asElement();
    });
  const click = (target: Target): Promise<void> => clickOn(() => find(target));
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
        // WebKit lets a cross-site frame take focus only after the user has pressed a key in it.
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

/** Returns the text of a document and its open shadow roots. Runs in the page. */
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
 * Clicks until the click arrives. As a defense against clickjacking, browsers drop clicks into a
 * cross-site frame that has just moved or grown.
 * @param find finds the element, again for each attempt: the frame may have replaced it
 */
async function clickOn(find: () => Promise<DrivenElement>): Promise<void> {
  await eventually('a click', async () => {
    const element = await find();
    const arrived = await element.evaluateHandle((target) => {
      const seen = { click: false };
      // A frame outside the viewport gets no animation frames, which Playwright waits for. Frames
      // above it grow when they come into view.
      target.scrollIntoView({ block: 'nearest' });
      target.addEventListener('click', () => (seen.click = true), { once: true });
      return seen;
    });
    await element.click();
    return (await arrived.evaluate(({ click }) => click)) || undefined;
  });
}
