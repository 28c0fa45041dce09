import type { Appearance } from '@connector-frame/core/connect';

const changes = new EventTarget();

/**
 * Calls `run` when the theme or color scheme of the page changes. Returns a function that removes
 * the listeners.
 */
export function onLookChange(run: () => void): () => void {
  changes.addEventListener('change', run);
  prefersDark.addEventListener('change', run);
  return () => {
    changes.removeEventListener('change', run);
    prefersDark.removeEventListener('change', run);
  };
}

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

/** Returns the current theme and color scheme, such as `harbor dark`, with `auto` resolved. */
export function currentLook(): string {
  const { look = '' } = document.documentElement.dataset;
  return look.endsWith(' auto') ? look.replace('auto', prefersDark.matches ? 'dark' : 'light') : look;
}

/**
 * Applies a theme choice without reloading the page, so that unsaved input is kept. Without a
 * script, the form posts the choice and the server renders a new page.
 */
export function bindLook(form: HTMLFormElement): void {
  form.addEventListener('submit', (event) => {
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement)) return;
    event.preventDefault();
    const { name, value } = button;
    for (const one of form.querySelectorAll(`[name=${name}]`)) one.setAttribute('aria-pressed', String(one === button));
    const [preset = '', scheme = ''] = (document.documentElement.dataset['look'] ?? '').split(' ');
    document.documentElement.dataset['look'] = name === 'preset' ? `${value} ${scheme}` : `${preset} ${value}`;
    changes.dispatchEvent(new Event('change'));
    // Store the choice on the server for later pages. If that fails, it still applies to this page.
    fetch(form.action, { method: 'POST', body: new URLSearchParams({ [name]: value }), redirect: 'manual' }).catch(
      () => {},
    );
  });
}

/** Returns appearance tokens that match the page, read from its current computed styles. */
export function currentAppearance(): Appearance {
  const { color, fontFamily, accentColor, backgroundColor, borderTopColor, borderTopLeftRadius } = getComputedStyle(
    document.querySelector('#look-sample') ?? document.body,
  );
  return {
    colorPrimary: accentColor,
    colorText: color,
    colorBackground: backgroundColor,
    colorBorder: borderTopColor,
    fontFamily,
    borderRadius: borderTopLeftRadius,
  };
}
