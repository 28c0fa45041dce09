/** An entry of the pipeline log. Never contains records or secrets. */
export interface LogEntry {
  /**
   * Increases by one with each entry of a process, and further between two processes. A gap in the
   * tail of one process means that entries arrived faster than they were read.
   */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: 'info' | 'warn' | 'error';
  /** A stable code. */
  readonly code: string;
  readonly message: string;
  readonly nodeId?: string;
}

export type NewLogEntry = Omit<LogEntry, 'sequence' | 'at'>;
