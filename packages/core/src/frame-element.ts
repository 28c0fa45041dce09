/** Origins a token may go to: https, or this machine. */
export const TRUSTED = /^https:|[/.](localhost|127\.0\.0\.1|\[::1])(:|$)/;

type FrameIn = (parent: HTMLElement, src: URL | string) => HTMLIFrameElement;

/** Makes the form's iframe, as the last child of `parent`. */
export let frameIn: FrameIn = (parent, src) =>
  parent.appendChild(
    Object.assign(document.createElement('iframe'), {
      // The form keeps origin, requests, messages and pop-ups (a vendor's console); it loses top navigation and dialogs.
      sandbox: 'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox',
      allow: 'clipboard-write',
      referrerPolicy: 'origin',
      scrolling: 'no',
      // Goes through CSSOM, which `style-src 'self'` allows.
      style: 'border:0;display:block;width:100%',
      src,
    }),
  );

/** Gives frames another way to come, which a page without `preloadConnectorFrame` does not have to load. */
export const setFrameIn = (other: FrameIn): FrameIn => (frameIn = other);
