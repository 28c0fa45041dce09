import type { Appearance } from '@connector-frame/core/connect';

const changes = new EventTarget();

/**
 * Calls `run` when the theme or color scheme of the page changes. Returns a function that removes
 * the listeners.
 */
export function onThemeChange(run: () => void): () => void {
  changes.addEventListener('change', run);
  prefersDark.addEventListener('change', run);
  return () => {
    changes.removeEventListener('change', run);
    prefersDark.removeEventListener('change', run);
  };
}

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

/** Returns the current theme and color scheme, such as `harbor dark`, with `auto` resolved. */
export function currentTheme(): string {
  const { theme = '' } = document.documentElement.dataset;
  return theme.endsWith(' auto') ? theme.replace('auto', prefersDark.matches ? 'dark' : 'light') : theme;
}

/**
 * Applies a theme choice without reloading the page, so that unsaved input is kept. Without a
 * script, the form posts the choice and the server renders a new page.
 */
export function bindThemeForm(form: HTMLFormElement): void {
  form.addEventListener('submit', (event) => {
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement)) return;
    event.preventDefault();
    const { name, value } = button;
    for (const one of form.querySelectorAll(`[name=${name}]`)) one.setAttribute('aria-pressed', String(one === button));
    const [preset = '', scheme = ''] = (document.documentElement.dataset['theme'] ?? '').split(' ');
    document.documentElement.dataset['theme'] = name === 'preset' ? `${value} ${scheme}` : `${preset} ${value}`;
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
    document.querySelector('#theme-sample') ?? document.body,
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
