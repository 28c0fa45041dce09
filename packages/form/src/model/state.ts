/** The states of the form, as one union. `machine.ts` contains the transitions. */
import type { Field } from './field.js';
import type { Setup } from './wire.js';

/** A failure as displayed to the user. `code` is stable and is sent to the host. */
export interface Failure {
  code: string;
  message: string;
  /** What to do next. */
  hint?: string;
  /**
   * Offered with the failure and run by `retry()`: loads the latest version of the connector; the
   * user's edits stay on top of it.
   */
  action?: 'reload';
}

export type TestState =
  | { state: 'idle' }
  | { state: 'running' }
  | { state: 'passed'; summary?: string; durationMs: number }
  | { state: 'failed'; failure: Failure };

/** The contents of the header, fields and footer; constant once loaded. */
export interface FormSubject {
  mode: 'create' | 'edit';
  title: string;
  /** The type's one-line description on create; the creation date of the connector on edit. */
  subtitle: string;
  /** Tells the user why the service can save this type, but not run it. */
  limitation?: string | false;
  /** Where records for the connector are sent, for a saved one that receives them. */
  address?: string;
  /** Data URI of the vendor's SVG; null shows the monogram instead. */
  icon: string | null;
  monogram: string;
  /** Tint of the monogram's tile, in degrees. */
  hue: number;
  canTest: boolean;
  /** What the user has to set up at the vendor. */
  setup?: Setup | undefined;
  /**
   * Main fields in display order, starting with the connector's own name and description if they
   * are editable. `advanced` fields are collapsed.
   */
  fields: Field[];
  advanced: Field[];
}

export type FormState =
  | { phase: 'loading' }
  | { phase: 'load_failed'; failure: Failure; canRetry: boolean }
  | {
      phase: 'editing';
      subject: FormSubject;
      saving: boolean;
      test: TestState;
      /**
       * A failure that concerns no single field: rejected by the service, offline, session expired.
       * User input is kept.
       */
      failure?: Failure;
      /** The session expired and the host provided no new one. */
      expired: boolean;
      /**
       * The user canceled, or the host asked to unload, and the user is asked whether to discard
       * unsaved edits.
       */
      leaving?: boolean;
    }
  | { phase: 'saved'; subject: FormSubject };
