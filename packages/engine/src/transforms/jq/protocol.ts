/** Messages between the engine and the jq threads. */

/** Records for a program; it processes as many as fit in its time slice. */
export interface JqJob {
  /** The guarded program: see `guardProgram`. */
  readonly program: string;
  /** One JSON object per line. Empty: the program is only compiled. */
  readonly lines: readonly string[];
  /** Milliseconds after which no further record is started. */
  readonly sliceMs: number;
}

/**
 * Why a record goes to the dead letters. Stable codes, because jq's error messages contain data.
 */
export type JqRejection =
  /** The program raised an error, or jq failed on the record. */
  | 'jq_error'
  /** An output is not an object. */
  | 'jq_not_an_object'
  /** The record took longer than one second, or the batch longer than ten. */
  | 'jq_timeout'
  /** It needed more than 128 MiB of memory. */
  | 'jq_memory'
  /**
   * It produced more than 4 MiB or 10,000 records from one record, or more than 32 MiB from a
   * batch.
   */
  | 'jq_output_too_large'
  /** The program does not compile (anymore). */
  | 'jq_invalid';

/** Outcome of a record: the JSON of each output, or why it goes to the dead letters. */
export type JqOutcome = readonly string[] | JqRejection;

export interface JqResponse {
  /**
   * Outcomes of the first lines of the job, in order; fewer than all if the time slice ended or jq
   * failed.
   */
  readonly outcomes: readonly JqOutcome[];
  /** Set if the program did not compile: jq's error output, or `memory`. */
  readonly invalid?: string;
}

/** Data passed to a new thread. */
export interface JqThreadData {
  /** jq as a compiled module. */
  readonly module: WebAssembly.Module;
  /**
   * Index of the current record; -1 before the first. In shared memory, so that it can be read
   * while jq is busy.
   */
  readonly progress: Int32Array;
  readonly limits: JqLimits;
}

export interface JqLimits {
  /** Maximum memory of jq in bytes. */
  readonly memory: number;
  /** Maximum bytes and records that a program may produce from one record. */
  readonly outputBytes: number;
  readonly outputs: number;
  /** Bytes of output after which no further record is started. */
  readonly sliceBytes: number;
}
