import { EgressError, type Tester, type TesterConfig, type TestOutcome } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { unreachable } from '../_shared/connection-test/failures.js';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import { QueryError, WRONG_PASSWORD, withSession, type Database, type Query } from './session.js';

const postgresql = { product: 'PostgreSQL' };

/** A database to sign in to, and the JSON Pointers of the fields that configure it. */
export interface Target {
  database: Database;
  fields: { host: string; user: string; password: string; database: string };
}

/** Creates a tester that parses the configuration with `read`, signs in and runs `check`. */
export function createPostgresqlTester(
  read: (config: TesterConfig) => Target | Failure,
  check: (query: Query, config: TesterConfig) => Promise<TestOutcome>,
): Tester {
  return createTester(postgresql, async (config, { egress, signal }) => {
    const target = read(config);
    if ('ok' in target) return target;
    try {
      return await withSession(target.database, egress, signal, (query) => check(query, config));
    } catch (error) {
      if (error instanceof QueryError) return refused(error.state, target);
      if (error instanceof EgressError)
        return unreachable(error.reason, { ...postgresql, address: target.fields.host });
      throw error;
    }
  });
}

/**
 * Converts an SQLSTATE to a failure. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function refused(state: string, { database, fields }: Target): Failure {
  switch (state) {
    case WRONG_PASSWORD:
      if (database.password === '') return missing(fields.password, 'The server asks for a password.');
      return failed('invalid_credentials', 'PostgreSQL did not accept the user name and password.', {
        at: [fields.user, fields.password],
      });
    case '28000':
      return failed('forbidden', 'PostgreSQL does not allow this user to connect from here.', {
        hint: 'Check the user name, and the rules of the server for this network, database and encryption (pg_hba.conf).',
        at: fields.user,
      });
    case '3D000':
      return failed('not_found', 'There is no database by this name.', { at: fields.database });
    case '42501':
      return failed('forbidden', 'This user may not connect to the database.', { at: [fields.user, fields.database] });
    case '53300':
      return failed('rate_limited', 'PostgreSQL has no connection left.', { hint: 'Try again in a minute.' });
    case '57P03':
      return failed('upstream_error', 'PostgreSQL is starting or stopping.', { hint: 'Try again in a minute.' });
    default:
      return failed('rejected', 'PostgreSQL refused the request.');
  }
}
