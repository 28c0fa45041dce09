import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  ConnectorError,
  type ConnectorCode,
  type Egress,
  type Tester,
  type TesterConfig,
  type TestOutcome,
} from '@connector-frame/engine/connector-api';
import { createTester } from '../connection-test/create-tester.js';
import type { Failure } from '../connection-test/outcome.js';
import { at, text } from '../read.js';
import { toTestFailure, type SqlSubject } from './errors.js';
import type { SessionLimits, SqlSession } from './session.js';
import { createTableInput } from './table-input.js';
import { createTableOutput, type OutputDialect } from './table-output.js';
import type { InputDialect } from './table-plan.js';
import { testTable } from './test-output.js';
import { testTables } from './test-input.js';

/** Longer than the limit of a query on the server, so that the server reports the timeout first. */
const QUERY_MS = 75_000;
const MAX_RESULT = 64 * 1024 * 1024;
const MAX_REPLY = 4 * 1024 * 1024;
const TEST: SessionLimits = { queryMs: 10_000, maxBytes: MAX_RESULT };
const DEFAULT_LOOKBACK = 10;
/** The table of an output whose configuration names none. */
export const DEFAULT_TABLE = 'records';

/** A database server to sign in to, parsed from a configuration. */
export interface SqlTarget<Database> {
  database: Database;
  subject: SqlSubject;
}

/** What connects to a product. */
export interface SqlClient<Database> {
  readTarget: (config: TesterConfig) => SqlTarget<Database> | Failure;
  open: (database: Database, egress: Egress, signal: AbortSignal, limits: SessionLimits) => Promise<SqlSession>;
}

export interface SqlInputProduct<Database> extends SqlClient<Database> {
  dialect: InputDialect;
  /** Returns the schemas to read, and the field that selects them. Empty: all. */
  schemas: (config: TesterConfig) => { names: readonly string[]; field: string };
}

export interface SqlOutputProduct<Database> extends SqlClient<Database> {
  dialect: OutputDialect;
  /** Returns the schema to write to. */
  schema: (config: TesterConfig) => string;
}

/** Creates an input that reads the new rows of tables. */
export function createSqlInput<Database>(product: SqlInputProduct<Database>): ConnectorCode {
  const { dialect, schemas } = product;
  return {
    createInput: (config, { egress, clock }) => {
      const { database } = targetOf(product, config);
      const limits = { queryMs: QUERY_MS, maxBytes: MAX_RESULT };
      return createTableInput({
        dialect,
        clock,
        settings: config.settings,
        schemas: schemas(config).names,
        lookbackMinutes: Number(at(config.settings, 'lookback_minutes') ?? DEFAULT_LOOKBACK),
        open: (signal) => product.open(database, egress, signal, limits),
      });
    },
    testConnection: createSqlTester(product, (session, config) => {
      const { names, field } = schemas(config);
      return testTables(session, dialect, config.settings, names, field);
    }),
  };
}

/** Creates an output that inserts into a table. */
export function createSqlOutput<Database>(product: SqlOutputProduct<Database>): ConnectorCode {
  const { dialect } = product;
  return {
    createOutput: (config, { egress }) => {
      const { database } = targetOf(product, config);
      const limits = { queryMs: QUERY_MS, maxBytes: MAX_REPLY };
      return createTableOutput({
        dialect,
        schema: product.schema(config),
        table: tableOf(config),
        open: (signal) => product.open(database, egress, signal, limits),
      });
    },
    testConnection: createSqlTester(product, (session, config) =>
      testTable(session, dialect, product.schema(config), tableOf(config)),
    ),
  };
}

const tableOf = ({ settings }: TesterConfig): string => text(settings, 'table') ?? DEFAULT_TABLE;

function targetOf<Database>({ readTarget }: SqlClient<Database>, config: ConnectorConfig): SqlTarget<Database> {
  const target = readTarget(config);
  if ('ok' in target) throw new ConnectorError('invalid_config', target.message, 'permanent');
  return target;
}

function createSqlTester<Database>(
  { dialect, readTarget, open }: SqlClient<Database> & { dialect: { product: string } },
  check: (session: SqlSession, config: TesterConfig) => Promise<TestOutcome>,
): Tester {
  return createTester({ product: dialect.product }, async (config, { egress, signal }) => {
    const target = readTarget(config);
    if ('ok' in target) return target;
    let session: SqlSession | undefined;
    try {
      session = await open(target.database, egress, signal, TEST);
      const outcome = await check(session, config);
      await session.end();
      return outcome;
    } catch (error) {
      return toTestFailure(error, target.subject);
    } finally {
      session?.destroy();
    }
  });
}
