import type { AccountWindow } from './model/account.js';

/** Opens a window beside the page. The form sends it to the service, and the service to the vendor. */
export function openWindow(): AccountWindow | undefined {
  const opened = open('', '_blank', 'popup,width=560,height=720');
  if (!opened) {
    console.warn(
      'The browser opened no window to connect an account. It blocks windows of this page, or the page sends Cross-Origin-Opener-Policy: same-origin; with same-origin-allow-popups it can.',
    );
    return undefined;
  }
  const done = new Promise<void>((resolve) => {
    addEventListener('message', function onMessage({ source, origin, data }) {
      if (source !== opened || origin !== location.origin || data?.source !== 'connector-frame-consent') return;
      removeEventListener('message', onMessage);
      resolve();
    });
  });
  return {
    go: (url) => opened.location.replace(url),
    close: () => opened.close(),
    done,
    get closed() {
      return opened.closed;
    },
  };
}
