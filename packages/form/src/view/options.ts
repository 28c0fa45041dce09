import type { Tokens } from '../appearance/tokens.js';
import type { Messages } from '../messages/index.js';

/** What the view needs beside the form. */
export interface ViewOptions {
  /** What the form says, in its language. */
  messages: Messages;
  /** Checked appearance. Secret controls are colored from it directly: no style sheet of the page reaches them. */
  tokens: Tokens;
  /** Height of the content in CSS pixels; at most once per animation frame, and only when it changed. */
  onHeight?: (px: number) => void;
  /** A secret control takes no input because the page covers or distorts it; called once. */
  onCovered?: () => void;
}
