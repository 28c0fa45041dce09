import {
  ConnectorError,
  type Tester,
  type TesterConfig,
  type TesterContext,
  type TestOutcome,
} from '@connector-frame/engine/connector-api';
import { createTester } from '../connection-test/create-tester.js';
import type { Subject } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import { PollError } from '../poll/poll-error.js';
import { ApiError } from './api-error.js';

/** Creates a tester that turns the errors of an `ApiClient` into outcomes. */
export function createApiTester(
  subject: Subject,
  run: (config: TesterConfig, context: TesterContext) => Promise<TestOutcome>,
): Tester {
  return createTester(subject, async (config, context) => {
    try {
      return await run(config, context);
    } catch (error) {
      if (error instanceof ApiError || error instanceof PollError) return error.outcome;
      if (error instanceof ConnectorError) return outcomeOf(error);
      throw error;
    }
  });
}

function outcomeOf({ code, message }: ConnectorError): TestOutcome {
  const reasons = [
    'egress_refused',
    'dns_failed',
    'connect_failed',
    'timeout',
    'tls_failed',
    'redirected',
    'rate_limited',
    'upstream_error',
    'invalid_config',
  ] as const;
  return failed(reasons.find((each) => each === code) ?? 'unexpected_answer', message);
}
