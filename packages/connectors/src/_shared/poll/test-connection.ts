import type { PollDefinition, ConnectorTypeData } from '@connector-frame/catalog/types';
import { withDefaults } from '@connector-frame/catalog/validate';
import { ConnectorError, systemClock, type Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../connection-test/create-tester.js';
import { unexpected } from '../connection-test/failures.js';
import { failed, passed, type Failure } from '../connection-test/outcome.js';
import { PollClient } from './client.js';
import { givenField, withGivenPaths } from './given-paths.js';
import { PollError } from './poll-error.js';
import { recordsOf } from './records.js';

/** Creates the connection test of a polled type without its own: it sends the `check` request. */
export function createPollTester(type: ConnectorTypeData, definition: PollDefinition): Tester {
  return createTester({ product: type.vendor }, async (given, { egress, signal, secrets, tokens, aws }) => {
    try {
      const config = withDefaults(type.config, given);
      const poll = withGivenPaths(definition, config);
      const client = new PollClient({
        type,
        poll,
        config,
        egress,
        clock: systemClock,
        secrets,
        tokens,
        aws,
        isTest: true,
      });
      client.retrySignIn();
      const response = await client.check(signal);
      const found = recordsOf(poll.check.records, response);
      if (!found) return nothingThere(definition) ?? unexpected(client.subject);
      return passed(found.length === 1 ? 'Read 1 record' : `Read ${found.length} records`);
    } catch (error) {
      if (error instanceof PollError) return error.outcome;
      // The account that the customer connected can't be used.
      if (error instanceof ConnectorError)
        return failed('invalid_credentials', error.message, { at: type.oauth?.secret });
      throw error;
    }
  });
}

/** The customer entered a path that leads to no records. */
function nothingThere({ check }: PollDefinition): Failure | undefined {
  const { path } = check.records;
  const at = typeof path === 'string' ? givenField(path) : undefined;
  return at === undefined ? undefined : failed('invalid_config', 'The response has no records at this path.', { at });
}
