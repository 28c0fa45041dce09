import type { HostMessage } from './messages.js';

/**
 * Posts a message to the form in `iframe`, restricted to the origin of its URL. No effect if the
 * frame has no URL or is not in the document.
 *
 * @example
 * ```ts
 * sendToFrame(iframe, { source: PROTOCOL_SOURCE, type: 'command', command: 'save' });
 * ```
 */
export function sendToFrame(iframe: HTMLIFrameElement, message: HostMessage): void {
  if (iframe.src) iframe.contentWindow?.postMessage(message, new URL(iframe.src).origin);
}
