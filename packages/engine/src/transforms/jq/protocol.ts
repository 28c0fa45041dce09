/** What the thread that runs jq is sent and answers. */

/** Records for a program, as many as it gets to in its time. */
export interface JqJob {
  /** The guarded program: see `guardProgram`. */
  readonly program: string;
  /** Each the JSON of one object. None: the program is only compiled. */
  readonly lines: readonly string[];
  /** Milliseconds after which no further record is begun. */
  readonly sliceMs: number;
}

/** Why a record goes to the dead letters. Stable words: the text of jq's errors repeats data. */
export type JqRefusal =
  /** The program raised an error, or jq gave up on the record. */
  | 'jq_error'
  /** The program gave something that is no object. */
  | 'jq_not_an_object'
  /** It took longer than a second, or the batch longer than ten. */
  | 'jq_timeout'
  /** It needed more than 128 MiB. */
  | 'jq_memory'
  /** It made more than 4 MiB or 10,000 records of one, or more than 32 MiB of a batch. */
  | 'jq_output_too_large'
  /** The program does not compile (any more). */
  | 'jq_invalid';

/** What a program made of a record: the JSON of each object, or why it goes to the dead letters. */
export type JqOutcome = readonly string[] | JqRefusal;

export interface JqAnswer {
  /** Of the first lines of the job, in order: of all of them, unless the time was up or jq had to be given up. */
  readonly outcomes: readonly JqOutcome[];
  /** The program did not compile: what jq said of it, or `memory`. */
  readonly invalid?: string;
}

/** What a thread is made with. */
export interface JqThreadData {
  /** jq, compiled. */
  readonly module: WebAssembly.Module;
  /** Index of the record that is worked on; -1 before the first. Shared, so that it can be seen while jq is busy. */
  readonly progress: Int32Array;
  readonly limits: JqLimits;
}

export interface JqLimits {
  /** Bytes of memory jq may have. */
  readonly memory: number;
  /** Bytes, and records, that a program may make of one record. */
  readonly outputBytes: number;
  readonly outputs: number;
  /** Bytes of output after which no further record is begun. */
  readonly sliceBytes: number;
}
