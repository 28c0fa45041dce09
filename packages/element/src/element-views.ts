import type { FramePhase } from './frame-controller.js';
import { make } from './make.js';

/**
 * What stands in the element's shadow root. Made by hand: Lit's templates would be a quarter of what a page downloads, and would want a name in the
 * page's Trusted Types.
 * @param retry when the person wants to try again
 * @returns shows a phase, with the reason of an error; the place of the frame is the same node for ever
 */
export function createView(root: Node, retry: () => void): (phase: FramePhase, why?: string) => void {
  const frame = make('div', { part: 'frame' });
  let shown = '';
  let view: HTMLElement | undefined;
  root.appendChild(frame);
  return (phase, why = '') => {
    const isSeen = phase === 'ready' || phase === 'refused';
    frame.className = isSeen ? '' : 'unseen';
    frame.inert = !isSeen;
    if (shown === phase + why) return;
    shown = phase + why;
    const hadFocus = view?.matches(':focus-within');
    view?.remove();
    view = isSeen ? undefined : viewOf[phase](why, retry);
    if (view) root.appendChild(view);
    // Who pressed the button stays where it was, and comes into the form.
    if (!hadFocus) return;
    const next = view ?? frame.querySelector('iframe');
    if (view) view.tabIndex = -1;
    next?.focus();
  };
}

const viewOf = {
  waiting: () => make('slot'),

  /** Until the form is shown: its shape, or what the page gave for it. */
  loading: () =>
    make(
      'div',
      { part: 'loading', class: 'told', role: 'status' },
      make(
        'slot',
        { name: 'loading' },
        make('span', { class: 'sr' }, 'Loading the form'),
        make(
          'div',
          { class: 'skeleton', 'aria-hidden': 'true' },
          make('div', { class: 'head' }, bar('tile'), bar(), bar('line')),
          ...[1, 2, 3].map(() => make('div', {}, bar(), bar('box'))),
          make('div', { class: 'foot' }, bar('box'), bar('box')),
        ),
      ),
    ),

  /** Where no form can be: why, and a way to try again. */
  error: (why: string, retry: () => void) => {
    const button = make('button', { part: 'retry', type: 'button' }, 'Try again');
    button.addEventListener('click', retry);
    return make(
      'div',
      { part: 'error', class: 'told', role: 'alert' },
      make(
        'slot',
        { name: 'error' },
        make(
          'div',
          { class: 'failure' },
          make('p', { class: 'title' }, 'The form could not be loaded.'),
          make('p', { class: 'why' }, why),
          button,
        ),
      ),
    );
  },
};

const bar = (kind = ''): HTMLElement => make('i', { class: kind });
