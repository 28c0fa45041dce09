import {
  ConnectorError,
  systemClock,
  type Egress,
  type Tester,
  type TestOutcome,
} from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import { toTestFailure } from '../_shared/sql/errors.js';
import { SqlError } from '../_shared/sql/session.js';
import { SnowflakeClient } from './client.js';
import { readSnowflake, type SnowflakeTarget } from './config.js';
import { selectStatement, sourceOf } from './input.js';
import { NO_STAGE, readColumns } from './output.js';
import { StreamingClient } from './streaming-client.js';
import { channelName } from './streaming-output.js';

type Check<Client> = (
  client: Client,
  target: SnowflakeTarget,
  settings: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<TestOutcome>;

function createSnowflakeTester<Client>(
  check: Check<Client>,
  connect: (target: SnowflakeTarget, egress: Egress) => Client,
): Tester {
  return createTester({ product: 'Snowflake', address: '/settings/account' }, async (config, { egress, signal }) => {
    const target = readSnowflake(config);
    if ('ok' in target) return target;
    const credential = target.signIn.kind === 'key' ? '/secrets/private_key' : '/secrets/password';
    try {
      return await check(connect(target, egress), target, config.settings, signal);
    } catch (error) {
      if (error instanceof SqlError) {
        const fields = {
          host: '/settings/account',
          user: '/settings/role',
          password: credential,
          database: '/settings/database',
        };
        return toTestFailure(error, { product: 'Snowflake', fields, hasPassword: true });
      }
      if (!(error instanceof ConnectorError)) throw error;
      return outcomeOf(error, credential);
    }
  });
}

function outcomeOf({ code, message }: ConnectorError, credential: string): TestOutcome {
  switch (code) {
    case 'invalid_credentials':
      return failed('invalid_credentials', message, { at: ['/settings/account', '/settings/user', credential] });
    case 'not_found':
    case 'dns_failed':
      return failed('not_found', 'Snowflake has no account by this identifier.', { at: '/settings/account' });
    case 'invalid_config':
    case 'forbidden':
    case 'rate_limited':
    case 'egress_refused':
    case 'connect_failed':
    case 'timeout':
    case 'tls_failed':
    case 'redirected':
    case 'upstream_error':
    case 'rejected':
      return failed(code, message);
    default:
      return failed('unexpected_answer', message);
  }
}

const connectSql = (target: SnowflakeTarget, egress: Egress): SnowflakeClient =>
  new SnowflakeClient(target, egress, systemClock);

/** Runs the input's query without its rows. */
export const testSnowflakeInput = createSnowflakeTester(async (client, { database, schema }, settings, signal) => {
  const source = sourceOf(settings, database, schema);
  const statement = selectStatement(source, text(settings, 'timestamp_column') ?? '', false);
  await client.rows(`${statement} LIMIT 0`, [], signal);
  return passed('Signed in, and may read the rows');
}, connectSql);

/** Looks up the columns of the output's table. */
export const testSnowflakeOutput = createSnowflakeTester(async (client, { database, schema }, settings, signal) => {
  if (text(settings, 'stage') !== undefined) return failed('unsupported', NO_STAGE, { at: '/settings/stage' });
  const columns = await readColumns(client, database, schema, text(settings, 'table') ?? '', signal);
  if (columns.length > 0) return passed('Signed in, and found the table');
  return failed('not_found', 'Signed in, but the table does not exist, or this role may not see it.', {
    at: ['/settings/table', '/settings/schema'],
  });
}, connectSql);

/** Asks for the channel of the output, which opens none. */
export const testStreamingOutput = createSnowflakeTester(
  async (client: StreamingClient, { database, schema }, settings, signal) => {
    await client.committed({ database, schema, pipe: text(settings, 'pipe') ?? '' }, channelName(settings), signal);
    return passed('Signed in, and found the pipe');
  },
  (target, egress) => new StreamingClient(target, egress, systemClock),
);
