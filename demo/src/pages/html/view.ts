import { byId } from '../shared/dom.js';

/** One of the page's states; each is an element with that id, and a heading `<id>-title`. */
export type View = 'sign-in' | 'broken' | 'list' | 'connector';

const views: readonly View[] = ['sign-in', 'broken', 'list', 'connector'];
let shown: View | undefined;

/** Shows one state and, unless it is the first, moves the focus to its heading. */
export function showView(view: View): void {
  for (const one of views) byId(one).hidden = one !== view;
  const heading = byId(`${view}-title`);
  document.title = `${heading.textContent} · Northwind Security`;
  if (shown !== undefined && shown !== view) {
    scrollTo(0, 0);
    heading.focus({ preventScroll: true });
  }
  shown = view;
}
