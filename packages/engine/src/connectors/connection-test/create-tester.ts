import { EgressError, type Egress } from '../../egress/index.js';
import { unreachable, type Subject } from './failures.js';
import type { Tester, TesterConfig, TesterContext, TestOutcome } from './tester.js';

/**
 * A tester whose failures on the way there are put in the subject's terms. Inside it, `egress` listens to the signal
 * by itself.
 */
export function createTester(
  subject: Subject,
  run: (config: TesterConfig, context: TesterContext) => Promise<TestOutcome>,
): Tester {
  return async (config, { egress, signal }) => {
    const bound: Egress = {
      fetch: (url, init) => egress.fetch(url, { signal, ...init }),
      connect: (target) => egress.connect({ signal, ...target }),
    };
    try {
      return await run(config, { egress: bound, signal });
    } catch (error) {
      if (error instanceof EgressError) return unreachable(error.reason, subject);
      if (signal.aborted) return unreachable('timeout', subject);
      throw error;
    }
  };
}
