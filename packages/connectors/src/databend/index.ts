import { ConnectorError, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected } from '../_shared/connection-test/failures.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { PollError } from '../_shared/poll/poll-error.js';
import { at, text } from '../_shared/read.js';
import { createDatabendOutput, headersOf, parse, readDatabend } from './output.js';

const subject = { product: 'Databend', address: '/settings/endpoint' };

/** Runs a query that reads nothing. https://docs.databend.com/developer/apis/http */
const testDatabend: ConnectorCode['testConnection'] = createTester(subject, async (config, { egress, signal }) => {
  const isBearer = text(config.settings, 'auth', 'strategy') === 'bearer';
  try {
    const target = readDatabend(config);
    const response = await egress.fetch(`${target.origin}/v1/query`, {
      method: 'POST',
      signal,
      headers: { ...headersOf(target), 'content-type': 'application/json' },
      body: JSON.stringify({ sql: 'SELECT 1', pagination: { wait_time_secs: 5 } }),
      ...target.tls,
    });
    if (response.status !== 200)
      return statusFailure(response.status, {
        ...subject,
        credential: isBearer ? '/secrets/token' : '/secrets/password',
      });
    const body = parse(await response.text());
    if (at(body, 'error') !== undefined && at(body, 'error') !== null)
      return failed('rejected', 'Databend refused the query.');
    return Array.isArray(at(body, 'data')) ? passed('Signed in to Databend') : unexpected(subject);
  } catch (error) {
    if (error instanceof PollError) return error.outcome;
    if (error instanceof ConnectorError) return failed('invalid_config', error.message, { at: '/settings/endpoint' });
    throw error;
  }
});

export const databendOutput: ConnectorCode = { testConnection: testDatabend, createOutput: createDatabendOutput };
