/** The life of the form: one union of states. Transitions stand in `machine.ts`, without DOM. */
import type { Field } from './field.js';

/** A failure as a person reads it. `code` is stable and goes to the host. */
export interface Failure {
  code: string;
  message: string;
  /** What to do next. */
  hint?: string;
  /** Offered beside it, done by `retry()`: loads the connector's latest version; what was typed stays on top of it. */
  action?: 'reload';
}

export type TestState =
  | { state: 'idle' }
  | { state: 'running' }
  | { state: 'passed'; summary?: string; durationMs: number }
  | { state: 'failed'; failure: Failure };

/** What the header and the footer need, fixed once loaded. */
export interface FormSubject {
  mode: 'create' | 'edit';
  title: string;
  /** Type's own one-line description on create; on edit, the day the connector was created. */
  subtitle: string;
  /** Data URI of the vendor's SVG, or null: a monogram is shown. */
  icon: string | null;
  monogram: string;
  canTest: boolean;
  /** Main fields, in order, the connector's own name and description first where they may be edited; `advanced` ones fold. */
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
      /** Not on a field: server said no, offline, session expired. Typed values stay. */
      failure?: Failure;
      /** The session ran out and the host has no fresh one. */
      expired: boolean;
      /** The page wants the form to go, and the person is asked whether to discard what was typed. */
      leaving?: boolean;
    }
  | { phase: 'saved'; subject: FormSubject };
