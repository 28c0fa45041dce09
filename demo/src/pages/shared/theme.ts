export type Theme = 'auto' | 'light' | 'dark';

const themes: readonly string[] = ['auto', 'light', 'dark'] satisfies Theme[];
const key = 'northwind-theme';

/** Binds radio buttons to the page's color scheme, and remembers the choice. `onChange` runs whenever the page looks different. */
export function bindTheme(choices: HTMLElement, onChange: () => void): void {
  const inputs = [...choices.querySelectorAll('input')];
  const apply = (theme: string) => {
    for (const input of inputs) input.checked = input.value === theme;
    if (theme === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  };
  choices.addEventListener('change', () => {
    const theme = inputs.find((input) => input.checked)?.value ?? 'auto';
    apply(theme);
    remember(theme);
    onChange();
  });
  prefersDark.addEventListener('change', onChange);
  apply(remembered());
}

/** What the page shows now. */
export function currentScheme(): 'light' | 'dark' {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return prefersDark.matches ? 'dark' : 'light';
}

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function remembered(): string {
  try {
    const theme = localStorage.getItem(key) ?? 'auto';
    return themes.includes(theme) ? theme : 'auto';
  } catch {
    return 'auto'; // Storage is blocked: the choice lasts as long as the page.
  }
}

function remember(theme: string): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // As above.
  }
}
