import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, passed } from '../_shared/connection-test/outcome.js';
import { bodyOf, headersOf, readRequest } from './request.js';

const ENDPOINT = '/settings/endpoint';
const SECRET_HEADERS = '/secrets/auth_headers';

const server: Subject = { product: 'the server', address: ENDPOINT, credential: SECRET_HEADERS };

const record = JSON.stringify({ type: 'connection_test', message: 'Sent by "Test connection". Safe to ignore.' });

/**
 * Sends one record marked as a test, with the method, headers and structure that real records use.
 * Only this proves that records will arrive: a request without a body can succeed where a wrong key
 * would be rejected.
 *
 * Two methods can't be tested this way. GET carries no record and is sent as is. DELETE is never
 * sent: a HEAD request replaces it, which only proves that the server responds and does not reject
 * the credentials.
 */
export const testHttp = createTester(server, async ({ settings, secrets }, { egress }) => {
  const request = readRequest({ settings, secrets });
  const { endpoint, method } = request;
  if (!endpoint) return missing(ENDPOINT, 'Enter an address.');
  const headers = headersOf(request);
  if ('unsendable' in headers) {
    return failed('invalid_config', 'A header can not be sent: its name is not allowed, or a character in it.', {
      at: headers.unsendable === 'open' ? '/settings/headers' : SECRET_HEADERS,
    });
  }

  const carries = method !== 'GET' && method !== 'DELETE';
  const { status } = await egress.fetch(endpoint, {
    method: method === 'DELETE' ? 'HEAD' : method,
    headers,
    ...(carries && { body: bodyOf(request, { lines: [record], bytes: Buffer.byteLength(record) }) }),
    verifyTls: request.verifyTls,
    discardBody: true,
  });
  if (method === 'DELETE' && status !== 401 && status !== 403 && status < 500 && status !== 429) {
    return passed(`The server answered (HTTP ${status}). A test sends no DELETE`);
  }
  if (status >= 200 && status < 300) {
    return passed(
      carries ? `The server accepted a test record (HTTP ${status})` : `The server answered (HTTP ${status})`,
    );
  }
  if (status === 401 || status === 403) {
    return failed(
      status === 401 ? 'invalid_credentials' : 'forbidden',
      `The server refused the request (HTTP ${status}).`,
      {
        hint: 'Check the authentication headers.',
        at: SECRET_HEADERS,
      },
    );
  }
  if (status === 405)
    return failed('rejected', `The server does not take ${method} here (HTTP 405).`, { at: '/settings/method' });
  if ([400, 413, 415, 422].includes(status)) {
    return failed('rejected', `The server did not accept the test record (HTTP ${status}).`, {
      hint: 'It may expect another payload structure.',
      at: '/settings/payload_structure',
    });
  }
  return statusFailure(status, server);
});
