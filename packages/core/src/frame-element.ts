type CreateFrame = (parent: HTMLElement, url: URL | string) => HTMLIFrameElement;

/** Creates the form's iframe as the last child of `parent`. */
export let createFrameElement: CreateFrame = (parent, url) =>
  parent.appendChild(
    Object.assign(document.createElement('iframe'), {
      // The form can use its origin, requests, messages and pop-ups (for a vendor's console), but
      // not top navigation or dialogs.
      sandbox: 'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox',
      allow: 'clipboard-write',
      referrerPolicy: 'origin',
      scrolling: 'no',
      // Set through CSSOM, which `style-src 'self'` allows.
      style: 'border:0;display:block;width:100%',
      src: url,
    }),
  );

/**
 * Replaces `createFrameElement`. A hook, so that only pages that import `preloadConnectorFrame`
 * download its code.
 */
export const setCreateFrameElement = (other: CreateFrame): CreateFrame => (createFrameElement = other);
