import { ConnectorError, type Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { failureOf } from '../_shared/broker/test-failure.js';
import { text } from '../_shared/read.js';
import { readInfluxTarget } from './config.js';
import { write } from './output.js';

const influx: Subject = { product: 'InfluxDB', address: '/settings/endpoint' };

/** Writes no points: InfluxDB checks the credentials and the database or bucket before it reads them. */
export const testInflux: Tester = createTester(influx, async (config, { egress, signal }) => {
  const isFirst = text(config.settings, 'version') === '1';
  const name = isFirst ? '/settings/database' : '/settings/bucket';
  const password = isFirst ? '/secrets/password' : '/secrets/token';
  const user = isFirst ? '/settings/username' : password;
  try {
    const { status, text: body } = await write(readInfluxTarget(config), Buffer.alloc(0), egress, signal);
    const isEmpty = status === 400 && body.includes('"invalid"');
    if (status === 200 || status === 204 || isEmpty)
      return body.trimStart().startsWith('<') ? unexpected(influx) : passed('InfluxDB accepted a write without points');
    if (status === 404)
      return failed('not_found', `InfluxDB has no such ${isFirst ? 'database' : 'organization or bucket'}.`, {
        at: name,
      });
    return statusFailure(status, { ...influx, credential: password });
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    return failureOf(error, { product: 'InfluxDB', address: '/settings/endpoint', user, password, name });
  }
});
