import { ConnectorError, type Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { failureOf } from '../_shared/broker/test-failure.js';
import { GrpcChannel } from '../_shared/grpc/channel.js';
import { isPage } from '../_shared/delivery/responses.js';
import { readOtelTarget } from './config.js';
import { EXPORT, post, PRODUCT } from './output.js';

const receiver: Subject = {
  product: 'the OTLP receiver',
  address: '/settings/endpoint',
  credential: '/secrets/headers',
};
const fields = {
  ...receiver,
  address: '/settings/endpoint',
  user: '/secrets/headers',
  password: '/secrets/headers',
  name: '/settings/protocol',
};

/** Exports no records: a request without any is valid, and still needs the credentials. */
export const testOtel: Tester = createTester(receiver, async (config, { egress, signal }) => {
  try {
    const target = readOtelTarget(config);
    const { protocol, address, headers } = target;
    if (protocol === 'grpc') {
      const channel = new GrpcChannel({ egress, address, product: PRODUCT, metadata: headers });
      try {
        await channel.call(EXPORT, new Uint8Array(), signal);
      } finally {
        await channel.close();
      }
      return passed('The receiver accepted an export without records');
    }
    const [body, type] = target.wrap
      ? [Buffer.alloc(0), 'application/x-protobuf']
      : [Buffer.from('{}'), 'application/json'];
    const response = await post(target, 'logs', body, type, { egress, signal });
    const { status } = response;
    if (status >= 200 && status < 300 && !isPage(response))
      return passed('The receiver accepted an export without records');
    if (status === 400) return passed('The receiver responded. The first delivery shows whether it accepts records');
    return status >= 400 ? statusFailure(status, receiver) : unexpected(receiver);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    if (error.code === 'invalid_config') return failed('invalid_config', error.message, { at: '/settings/protocol' });
    return failureOf(error, fields);
  }
});
