import type { ConnectorError, Egress, Tester, TesterConfig } from '@connector-frame/engine/connector-api';
import { createTester } from '../connection-test/create-tester.js';
import { passed } from '../connection-test/outcome.js';
import { failureOf, type BrokerFields } from './test-failure.js';

export interface BrokerTest<Session> {
  fields: BrokerFields | ((config: TesterConfig) => BrokerFields);
  /** Connects and signs in. */
  connect: (config: TesterConfig, egress: Egress, signal: AbortSignal) => Promise<Session>;
  /** Checks what the connector will use, and returns the summary. */
  check: (session: Session, settings: Record<string, unknown>) => Promise<string>;
  close: (session: Session) => Promise<void> | void;
  /** Converts an error of the client. */
  convert: (error: unknown) => ConnectorError;
}

/** Creates a connection test that signs in to a broker, checks something, and disconnects. */
export function createBrokerTester<Session>({
  fields: given,
  connect,
  check,
  close,
  convert,
}: BrokerTest<Session>): Tester {
  const run: Tester = async (config, { egress, signal }) => {
    const fields = typeof given === 'function' ? given(config) : given;
    return createTester(fields, async (_config, { egress: bound }) => {
      try {
        const session = await connect(config, bound, signal);
        try {
          return passed(await check(session, config.settings));
        } finally {
          await close(session);
        }
      } catch (error) {
        signal.throwIfAborted();
        return failureOf(convert(error), fields);
      }
    })(config, { egress, signal });
  };
  return run;
}
