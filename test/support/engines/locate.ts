/**
 * An element to find: a field by its label, an element by role and name, or the first match of a
 * selector.
 */
export type Target = { label: string } | { role: Role; name: string } | { selector: string };

export type Role = keyof typeof roles;

const roles = {
  button: 'button, [role=button]',
  heading: 'h1, h2, h3, h4, h5, h6, [role=heading]',
  alert: '[role=alert]',
  status: '[role=status]',
};

const fields =
  'input, textarea, select, [role=textbox], [role=combobox], [role=switch], [role=spinbutton], [contenteditable=true]';

/** A target as data for `locate`, which runs in the page and can't use this module. */
export interface Search {
  selector: string;
  name: string | undefined;
}

export function searchOf(target: Target): Search {
  if ('selector' in target) return { selector: target.selector, name: undefined };
  if ('label' in target) return { selector: fields, name: target.label };
  return { selector: roles[target.role], name: target.name };
}

export const described = (target: Target): string => Object.values(target).join(' ');

/**
 * Finds a visible element in a document and its open shadow roots. Runs in the page. Computes the
 * accessible name (https://www.w3.org/TR/accname-1.2/) as far as this project's pages need it:
 * `aria-labelledby`, `aria-label`, `<label>`, text.
 */
export function locate({ selector, name }: Search): HTMLElement | null {
  const textOf = (node: Node | null): string => {
    if (!(node instanceof Element)) return node?.nodeType === Node.TEXT_NODE ? (node.textContent ?? '') : '';
    return node.ariaHidden === 'true' ? '' : [...node.childNodes].map(textOf).join('');
  };
  const named = (element: HTMLElement): string => {
    const root = element.getRootNode() as Document | ShadowRoot;
    const ids = element.getAttribute('aria-labelledby')?.split(/\s+/) ?? [];
    const referenced = ids.map((id) => textOf(root.getElementById(id))).join(' ');
    const { labels } = element as HTMLInputElement;
    return referenced || element.getAttribute('aria-label') || textOf(labels?.[0] ?? element);
  };
  const roots: ParentNode[] = [document];
  for (const root of roots) {
    for (const element of root.querySelectorAll<HTMLElement>('*')) {
      if (element.shadowRoot) roots.push(element.shadowRoot);
      if (!element.matches(selector) || !element.checkVisibility()) continue;
      if (name === undefined || named(element).replace(/\s+/g, ' ').trim() === name) return element;
    }
  }
  return null;
}
