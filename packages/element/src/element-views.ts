import type { FramePhase } from './frame-controller.js';
import { make } from './make.js';
import type { ErrorTexts } from './messages/describe-error.js';
import type { FrameMessages } from './messages/en.js';

/** What the element shows. */
export interface FrameView {
  phase: FramePhase;
  error?: ErrorTexts | undefined;
  messages: FrameMessages;
}

/**
 * Creates the content of the element's shadow root: the container of the frame, which is never
 * replaced, and a view beside it while there is no form to see. Uses no templates: Lit's would be a
 * quarter of what a page downloads, and would need a Trusted Types policy on the page.
 *
 * @param retry called when the user presses the button of the error view
 * @returns a function that shows a view
 */
export function createView(root: Node, retry: () => void): (view: FrameView) => void {
  const frame = make('div', { part: 'frame' });
  let shown = '';
  let element: HTMLElement | undefined;
  root.appendChild(frame);
  return ({ phase, error, messages }) => {
    const isFrameVisible = phase === 'ready' || phase === 'failed-frame';
    frame.className = isFrameVisible ? '' : 'loading-frame';
    frame.inert = !isFrameVisible;
    const { loading, loadFailed, tryAgain } = messages;
    const key = JSON.stringify([phase, error, loading, loadFailed, tryAgain]);
    if (shown === key) return;
    shown = key;
    const hadFocus = element?.matches(':focus-within');
    element?.remove();
    element = isFrameVisible ? undefined : viewOf[phase](messages, error, retry);
    if (element) root.appendChild(element);
    // A user who pressed the button keeps the focus here, and then gets it in the form.
    if (!hadFocus) return;
    const next = element ?? frame.querySelector('iframe');
    if (element) element.tabIndex = -1;
    next?.focus();
  };
}

const viewOf = {
  waiting: () => make('slot'),

  /** A skeleton of the form, or the page's `loading` slot. */
  loading: ({ loading }: FrameMessages) =>
    make(
      'div',
      { part: 'loading', class: 'notice', role: 'status' },
      make(
        'slot',
        { name: 'loading' },
        make('span', { class: 'sr' }, loading),
        make(
          'div',
          { class: 'skeleton', 'aria-hidden': 'true' },
          make('div', { class: 'head' }, bar('tile'), bar(), bar('line')),
          ...[1, 2, 3].map(() => make('div', {}, bar(), bar('box'))),
          make('div', { class: 'foot' }, bar('box'), bar('box')),
        ),
      ),
    ),

  /** The cause and a button, or the page's `error` slot. */
  error: ({ loadFailed, tryAgain }: FrameMessages, texts: ErrorTexts | undefined, retry: () => void) => {
    const { cause = '', details = '' } = texts ?? {};
    const button = make('button', { part: 'retry', type: 'button' }, tryAgain);
    button.addEventListener('click', retry);
    return make(
      'div',
      { part: 'error', class: 'notice', role: 'alert' },
      make(
        'slot',
        { name: 'error' },
        make(
          'div',
          { class: 'failure' },
          make('p', { class: 'title' }, loadFailed),
          make('p', { class: 'cause' }, cause),
          ...(details ? [make('p', { class: 'details', part: 'details' }, details)] : []),
          button,
        ),
      ),
    );
  },
};

const bar = (kind = ''): HTMLElement => make('i', { class: kind });
