/** An entry of the pipeline log. Never contains records or secrets. */
export interface LogEntry {
  /** Increases with each entry of the logs that share it, also over restarts. May skip numbers. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: 'info' | 'warn' | 'error';
  /** A stable code. */
  readonly code: string;
  readonly message: string;
  readonly nodeId?: string;
  /** Further values of the event, by name. */
  readonly details?: Readonly<Record<string, string | number>>;
}

export type NewLogEntry = Omit<LogEntry, 'sequence' | 'at'>;
