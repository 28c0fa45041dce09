/**
 * The form as the view uses it, independent of the DOM. `createForm` (in `create-form.ts`) builds
 * it from `init` and the API; tests and the gallery can pass any object of this shape to the view.
 */
import type { Issue } from '@connector-frame/catalog/types';
import type { FormState } from './state.js';
import type { AccountOffer } from './account.js';
import type { SecretState } from './field.js';

export interface Form {
  /** Current state; a new object on each transition. */
  readonly state: FormState;

  /**
   * Returns the value at a JSON Pointer: a string, number or boolean, or for a map an ordered array
   * of `{ key, value }`. `/name` and `/description` are the connector's own.
   */
  value(path: string): unknown;
  /**
   * Stores a value. Notifies only the listeners of that path and of fields that depend on it
   * (conditions, variants, re-entry); never re-renders the form.
   */
  setValue(path: string, value: unknown): void;
  /** Returns the number of rows of a list or map. */
  rows(path: string): number;
  addRow(path: string): void;
  removeRow(path: string, index: number): void;

  secret(path: string): SecretState;
  replaceSecret(path: string): void;
  keepSecret(path: string): void;
  clearSecret(path: string): void;
  /** Returns the account that can be connected instead of entering this secret, if there is one. */
  account(path: string): AccountOffer | undefined;
  /**
   * Connects an account. Call it in the handler of a click. Resolves with a sentence for screen readers, or
   * with undefined if the account was not connected.
   */
  connectAccount(path: string): Promise<string | undefined>;

  /**
   * Returns a sentence that names where the value of a secret would be sent, and the organization
   * for which it would be stored.
   */
  sentTo(path: string): string;
  /**
   * Returns every error message that a secret could have. The view reserves space for the longest
   * one.
   */
  possibleErrors(path: string): string[];

  /** Returns whether a field is shown, according to its condition (`when`). */
  shown(path: string): boolean;

  /**
   * Returns the error message displayed on a field, in the form's language; undefined if the field
   * is valid or untouched.
   */
  error(path: string): string | undefined;
  /** Trims, normalizes and validates a field after the user left it. */
  leave(path: string): void;
  /** Fields with errors after a rejected save or test, in display order. */
  readonly summary: readonly { path: string; label: string; message: string }[];
  /**
   * Whether to show the summary. While a secret is being entered, it stays until the next save or
   * test, whatever the user types.
   */
  readonly rejected: boolean;
  /**
   * Returns the secrets that are being entered, one entry per row if they have rows. The summary
   * reserves space for them.
   */
  secretEntries(): { path: string; label: string }[];

  /**
   * Validates the form. Fills `summary` if there are errors, otherwise saves.
   *
   * @param confirm resolves with whether the user could see where the entered secrets will be sent;
   *   if not, nothing is sent
   */
  save: (confirm?: () => Promise<boolean>) => Promise<void>;
  test: (confirm?: () => Promise<boolean>) => Promise<void>;
  cancel(): void;
  /**
   * Reports why a save or test was not started, to the host and, if the destination was not seen,
   * to the user.
   */
  reject(reason: 'destination_not_seen' | 'command_while_typing'): void;
  /**
   * Discards unsaved edits after the host asked to unload the form, and lets the host remove it.
   */
  discard(): void;
  /** Continues editing after the host asked to unload the form. Sends the host no reply. */
  keepEditing(): void;
  /**
   * Reloads after `load_failed`, loads the latest connector after a conflict, or requests a new
   * session from the host after `expired`.
   */
  retry(): Promise<void>;

  /**
   * Runs `listener` after the value, error, rows, secret state or `shown` of `path` changed; for
   * `*`, after `state` or `summary` changed (not on each keystroke). Returns a function that
   * unsubscribes.
   */
  subscribe(path: string, listener: () => void): () => void;
}

export type { Issue };
