import type { Logger } from 'pino';
import type { Env } from '../env.js';
import type { Database, DatabaseTimeouts } from '../store/database.js';
import { openDatabase } from '../store/open-database.js';

export type TransferEnv = Pick<
  Env,
  'DATABASE_URL' | 'DATA_DIR' | 'POSTGRES_PREVIOUS' | 'MASTER_KEY' | 'MASTER_KEY_PREVIOUS'
>;

export interface TransferOptions {
  /** Where the installation is. */
  env: TransferEnv;
  file: string;
  log: Logger;
  /** Receives a line for each part that is done. */
  onProgress?: (line: string) => void;
  /** Its reason is thrown. */
  signal?: AbortSignal;
}

/** What was moved. */
export interface Transferred {
  schema_version: number;
  /** The keys that the secrets in the file need. */
  master_key_ids: readonly string[];
  /** Rows of all tables. */
  rows: number;
  /** Files of the engine. */
  files: number;
}

/** A large table is hashed by one statement. */
const TIMEOUTS: DatabaseTimeouts = { connect: 5_000, statement: 3_600_000, response: 3_660_000 };

export const STOP_IT = 'Stop the service before an export or import: its buffers change while it runs.';
const DATA_LOCK = { what: 'The data folder', advice: STOP_IT };

/** Opens the database of an installation that has stopped. */
export const openStopped = (
  { DATABASE_URL, DATA_DIR, POSTGRES_PREVIOUS }: TransferEnv,
  log: Logger,
): Promise<Database> =>
  openDatabase(
    {
      url: DATABASE_URL,
      folder: DATA_DIR,
      previousPostgres: POSTGRES_PREVIOUS,
      timeouts: TIMEOUTS,
      lockMessages: DATA_LOCK,
    },
    log,
  );
