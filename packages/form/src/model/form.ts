/**
 * The form without DOM, as the view sees it. `createForm` (in `create-form.ts`) builds the real one from `init` and the API;
 * a test or a gallery may give the view any object of this shape.
 */
import type { Issue } from '@connector-frame/catalog/types';
import type { FormState } from './state.js';
import type { SecretState } from './field.js';

export interface Form {
  /** Present state; a new object on each transition. */
  readonly state: FormState;

  /** Value at a pointer: string, number, boolean, or for a map an ordered array of `{ key, value }`. `/name` and `/description` are the connector's own. */
  value(path: string): unknown;
  /** Stores a value. Tells only that path's listeners, and whatever depends on it (conditions, variants, re-entry). Never re-renders the form. */
  setValue(path: string, value: unknown): void;
  /** Number of rows of a list or map. */
  rows(path: string): number;
  addRow(path: string): void;
  removeRow(path: string, index: number): void;

  secret(path: string): SecretState;
  replaceSecret(path: string): void;
  keepSecret(path: string): void;
  clearSecret(path: string): void;

  /** Where the value of a secret would be sent, and for which organization it would be kept, as a sentence. */
  sentTo(path: string): string;
  /** Everything that could be wrong with a secret, as sentences. The view keeps space for the longest. */
  possibleErrors(path: string): string[];

  /** Whether a field is shown now (its `when`). */
  shown(path: string): boolean;

  /** Message of a field's error in the form's language, already said to the person; undefined while it is fine or untouched. */
  error(path: string): string | undefined;
  /** The person left the field: trims, normalizes, validates it. */
  leave(path: string): void;
  /** Fields with errors, in the order shown, after a refused save; for the summary. */
  readonly summary: readonly { path: string; label: string; message: string }[];
  /** Whether there is a summary to show. While a secret is being entered it stays until the next save or test, whatever is typed. */
  readonly refused: boolean;
  /** The secrets that are being entered, row by row where they have rows; for the space that the summary takes. */
  secretEntries(): { path: string; label: string }[];

  /**
   * Validates; on errors fills `summary` and stays; else saves.
   * @param confirm answers whether the person could see where the typed secrets go; if not, nothing is sent
   */
  save: (confirm?: () => Promise<boolean>) => Promise<void>;
  test: (confirm?: () => Promise<boolean>) => Promise<void>;
  cancel(): void;
  /** Tells the person and the host why a save or a test was not begun. */
  refuse(reason: 'destination_not_seen' | 'command_while_typing'): void;
  /** The person gives up what was typed, after the page asked for the form to go. */
  discard(): void;
  /** The person goes on; the page hears nothing. */
  keepEditing(): void;
  /** Loads again after `load_failed`, or asks the host for a session after `expired`. */
  retry(): Promise<void>;

  /**
   * `listener` runs after a change of the named path's value, error, rows, secret state or `shown`; for `*`, of `state` or
   * `summary`, never for a keystroke. Returns the unsubscribe.
   */
  subscribe(path: string, listener: () => void): () => void;
}

export type { Issue };
