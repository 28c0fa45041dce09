import type { Appearance } from '@connector-frame/core/connect';

const changes = new EventTarget();

/** Runs when the page looks different. Answers the function that stops it. */
export function onLookChange(run: () => void): () => void {
  changes.addEventListener('change', run);
  prefersDark.addEventListener('change', run);
  return () => {
    changes.removeEventListener('change', run);
    prefersDark.removeEventListener('change', run);
  };
}

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

/** What the page looks like, as one word. */
export function currentLook(): string {
  const { look = '' } = document.documentElement.dataset;
  return look.endsWith(' auto') ? look.replace('auto', prefersDark.matches ? 'dark' : 'light') : look;
}

/** The choices work without a script, by a new page. With one the page stays, and so does what is typed in it. */
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
    // The server keeps it for the next page; a choice that could not be kept still holds for this one.
    fetch(form.action, { method: 'POST', body: new URLSearchParams({ [name]: value }), redirect: 'manual' }).catch(
      () => {},
    );
  });
}

/** The tokens that make a form look like a part of the page: what the page's own style sheet says just now. */
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
