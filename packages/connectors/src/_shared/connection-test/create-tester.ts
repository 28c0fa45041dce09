import {
  type Egress,
  EgressError,
  type Tester,
  type TesterConfig,
  type TesterContext,
  type TestOutcome,
} from '@connector-frame/engine/connector-api';
import { unreachable, type Subject } from './failures.js';

/**
 * Creates a tester that turns network failures into outcomes worded for `subject`. The `egress`
 * passed to `run` already carries the signal.
 */
export function createTester(
  subject: Subject,
  run: (config: TesterConfig, context: TesterContext) => Promise<TestOutcome>,
): Tester {
  return async (config, { egress, signal, ...context }) => {
    const bound: Egress = {
      fetch: (url, init) => egress.fetch(url, { signal, ...init }),
      connect: (target) => egress.connect({ signal, ...target }),
    };
    try {
      return await run(config, { ...context, egress: bound, signal });
    } catch (error) {
      if (error instanceof EgressError) return unreachable(error.reason, subject);
      if (signal.aborted) return unreachable('timeout', subject);
      throw error;
    }
  };
}
