import { driveFakeFrame, type FakeFrameDriver } from '../../packages/core/src/testing/drive-fake-frame.js';
import type { ConnectorFrameElement } from '@connector-frame/element';
import { nextEvent } from './next-event.js';

/** The test server by another name: another site than the page of the tests. */
const site = `http://127.0.0.1:${location.port}`;

/** Addresses of a fake form, and of a page that never answers. */
export const FAKE_FRAME = `${site}/test/elements/fake-frame`;
export const SILENT_FRAME = `${site}/test/elements/silent-frame`;

/** Waits until the element shows the form, and returns a driver of it. */
export async function readyFrame(element: ConnectorFrameElement): Promise<FakeFrameDriver> {
  if (!element.matches(':state(ready)')) await nextEvent(element, 'ready');
  return driveFakeFrame(frameOf(element));
}

/** Returns the element's iframe. */
export function frameOf(element: ConnectorFrameElement): HTMLIFrameElement {
  const iframe = element.shadowRoot?.querySelector('iframe');
  if (!iframe) throw new Error('The element has no frame');
  return iframe;
}

/** Returns the element with this part, or `null`. */
export const partOf = (element: Element, part: string): HTMLElement | null =>
  element.shadowRoot?.querySelector<HTMLElement>(`[part="${part}"]`) ?? null;
