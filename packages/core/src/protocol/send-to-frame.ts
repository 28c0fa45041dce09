import type { HostMessage } from './messages.js';

/**
 * Posts a message to the form in `iframe`, for the origin of its address and no other. Says nothing to a frame that has
 * no window (it is not in the document) or no address.
 */
export function sendToFrame(iframe: HTMLIFrameElement, message: HostMessage): void {
  if (iframe.src) iframe.contentWindow?.postMessage(message, new URL(iframe.src).origin);
}
