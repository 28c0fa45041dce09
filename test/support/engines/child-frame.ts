import type { DrivenFrame, DrivenPage } from './driven.js';
import { eventually } from './eventually.js';

/** The frame of an iframe of a page or frame, by its place in the document. Waits until its document has loaded. */
export function childFrame(parent: DrivenPage | DrivenFrame, index: number): Promise<DrivenFrame> {
  return eventually(`frame ${index}`, async () => {
    const iframe = await parent.evaluateHandle((place) => document.querySelectorAll('iframe')[place], index);
    const frame = await iframe.asElement()?.contentFrame();
    return frame && (await hasLoaded(frame)) ? frame : undefined;
  });
}

/** Leads a frame to another address and waits until it is there. */
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
