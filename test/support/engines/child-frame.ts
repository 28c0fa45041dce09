import type { DrivenFrame, DrivenPage } from './driven.js';
import { eventually } from './eventually.js';

/**
 * Returns the frame of an iframe, by its index in the page or frame. Waits until its document has
 * loaded.
 */
export function childFrame(parent: DrivenPage | DrivenFrame, index: number): Promise<DrivenFrame> {
  return eventually(`frame ${index}`, async () => {
    const iframe = await parent.evaluateHandle((place) => document.querySelectorAll('iframe')[place], index);
    const frame = await iframe.asElement()?.contentFrame();
    return frame && (await hasLoaded(frame)) ? frame : undefined;
  });
}

/** Navigates a frame and waits until the new document has loaded. */
export async function navigate(frame: DrivenFrame, address: string): Promise<void> {
  await frame.evaluate((href) => void (location.href = href), address);
  const { origin } = new URL(address);
  await eventually(address, async () => {
    const isThere = await frame.evaluate((expected) => location.origin === expected, origin);
    return (isThere && (await hasLoaded(frame))) || undefined;
  });
}

const hasLoaded = (frame: DrivenFrame): Promise<boolean> =>
  frame.evaluate(() => location.protocol.startsWith('http') && document.readyState === 'complete');
