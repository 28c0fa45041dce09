import type { Tokens } from '../appearance/tokens.js';
import type { Messages } from '../messages/index.js';

/** Options of the view, in addition to the form. */
export interface ViewOptions {
  /** Messages in the form's language. */
  messages: Messages;
  /**
   * Validated appearance. Secret controls take their colors from it directly, because the page's
   * style sheets cannot reach them.
   */
  tokens: Tokens;
  /** Returns the element below the field at a path that shows what to set up at the vendor, if there is one. */
  setup?: (path: string) => HTMLElement | undefined;
  /**
   * Called with the height of the content in CSS pixels, at most once per animation frame and only
   * after a change.
   */
  onHeight?: (px: number) => void;
  /**
   * Called once, when a secret control rejects input because the host page covers or distorts it.
   */
  onCovered?: () => void;
}
