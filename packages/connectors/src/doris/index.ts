import { ConnectorError, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected } from '../_shared/connection-test/failures.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { PollError } from '../_shared/poll/poll-error.js';
import { at, text } from '../_shared/read.js';
import { createDorisOutput, readDoris } from './output.js';

const subject = { product: 'Doris', address: '/settings/endpoints' };

/** Asks a frontend for the columns of the table, which writes nothing. */
const testDoris: ConnectorCode['testConnection'] = createTester(subject, async (config, { egress, signal }) => {
  try {
    const { frontends, path, authorization, verifyTls, ca } = readDoris(config);
    const [frontend] = frontends;
    const url = new URL(path.replace(/_stream_load$/, '_schema'), frontend);
    const response = await egress.fetch(url, {
      signal,
      verifyTls,
      ...(ca !== undefined && { ca }),
      headers: { ...(authorization !== undefined && { authorization }) },
    });
    if (response.status === 401) {
      const field = text(config.settings, 'auth', 'strategy') === 'bearer' ? '/secrets/token' : '/secrets/password';
      return statusFailure(401, { ...subject, credential: field });
    }
    if (response.status !== 200) return statusFailure(response.status, subject);
    const body: unknown = await response.json().catch(() => undefined);
    if (at(body, 'code') === 0) return passed('Signed in, and found the table');
    if (at(body, 'code') === undefined) return unexpected(subject);
    return failed('not_found', 'Doris has no such table, or this user may not see it.', {
      at: ['/settings/database', '/settings/table'],
    });
  } catch (error) {
    if (error instanceof PollError) return error.outcome;
    if (error instanceof ConnectorError) return failed('invalid_config', error.message);
    throw error;
  }
});

export const dorisOutput: ConnectorCode = { testConnection: testDoris, createOutput: createDorisOutput };
