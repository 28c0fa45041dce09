import { ConnectorError, type Tester } from '@connector-frame/engine/connector-api';
import { failed, passed } from '../connection-test/outcome.js';

/** Creates a tester for an enrichment without a server: `run` loads what it reads, and describes it. */
export function createLookupTester(
  run: (config: Parameters<Tester>[0], context: Parameters<Tester>[1]) => Promise<string>,
  at: string,
): Tester {
  return async (config, context) => {
    try {
      return passed(await run(config, context));
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      const reason =
        error.code === 'not_found' ? 'not_found' : error.code === 'not_enabled' ? 'unsupported' : 'invalid_config';
      return failed(reason, error.message, { at });
    }
  };
}
