/** Limits, defaults and intervals of the service, for `npm run simulate`. */
import { HTTP_BATCH_MS, HTTP_BATCH_RECORDS } from '@connector-frame/connectors';
import { DEFAULT_LIMITS } from '@connector-frame/engine';
import { MAX_JETSTREAM_STREAMS, MAX_LABELED_PIPELINES, readEnv, type Env } from './env.js';
import { MAX_ENTRIES as MAX_KNOWN_CONNECTORS } from './ingest/known-connectors.js';
import { BY_MINUTE_MS } from './pipelines/running/counts-recorder.js';
import { CAPACITY, MAX_ENTRIES as MAX_LOG_ENTRIES } from './pipelines/running/pipeline-logs.js';
import { RECENT_IDS } from './store/bus/bus-queries.js';
import { POOL_CONNECTIONS, RESERVED_CONNECTIONS } from './store/database.js';
import { SETTINGS } from './store/embedded/postgres-process.js';
import { BY_MINUTE as USAGE_BY_MINUTE_MS } from './usage/usage-tidying.js';

/** What the code of the service limits, whatever it is configured to. Times in milliseconds. */
export const limits = {
  /**
   * Database connections of one process, further connections of a shared engine, and connections that the
   * embedded database accepts.
   */
  connections: POOL_CONNECTIONS,
  reservedConnections: RESERVED_CONNECTIONS,
  embeddedConnections: Number(SETTINGS['max_connections']),
  /** Ids of batches that PostgreSQL keeps of a stream, to detect duplicates. */
  recentIds: RECENT_IDS,
  /** Connectors that a process knows without the database. */
  knownConnectors: MAX_KNOWN_CONNECTORS,
  /** Log entries that are kept of a pipeline, and of all together. */
  logEntries: CAPACITY,
  allLogEntries: MAX_LOG_ENTRIES,
  /** For which counts and usage are kept by the minute. Older ones are kept by the hour. */
  countsByMinute: BY_MINUTE_MS,
  usageByMinute: USAGE_BY_MINUTE_MS,
  /** Between two reports of a pipeline that counts records. */
  report: DEFAULT_LIMITS.report,
  /** Records of a request of the output `http`, and the time for which it collects them. */
  httpBatchRecords: HTTP_BATCH_RECORDS,
  httpBatch: HTTP_BATCH_MS,
  /** Largest values of variables. */
  jetStreamStreams: MAX_JETSTREAM_STREAMS,
  labeledPipelines: MAX_LABELED_PIPELINES,
} as const;
export type Limits = typeof limits;

export { readEnv, type Env };
