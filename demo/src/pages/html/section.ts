import { make } from '../shared/dom.js';

/** The places of what is still on its way. */
export function skeleton(count: number, className: string): HTMLElement {
  const list = make('div', { className });
  list.setAttribute('aria-busy', 'true');
  for (let i = 0; i < count; i += 1) list.append(make('div', { className: 'bone' }));
  return list;
}

/** Says why there is nothing to see, and what can be done about it. */
export function blank(message: string, action?: { label: string; run: () => void }): HTMLElement {
  const box = make('div', { className: 'blank' }, make('p', {}, message));
  if (action) {
    const button = make('button', { type: 'button', className: 'secondary', onclick: action.run }, action.label);
    box.setAttribute('role', 'alert');
    box.append(button);
  }
  return box;
}
