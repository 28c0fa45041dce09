import { ConnectorError, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { failureOf, type BrokerFields } from '../_shared/broker/test-failure.js';
import { GrpcChannel } from '../_shared/grpc/channel.js';
import { createEncodedOutput } from '../_shared/output/encoded-output.js';
import type { PartResult } from '../_shared/output/split-batch.js';
import { readVectorTarget } from './config.js';
import { encodeEvents } from './encode-events.js';

const PRODUCT = 'Vector';
const fields: BrokerFields = {
  product: PRODUCT,
  address: '/settings/address',
  user: '/secrets/key_file',
  password: '/secrets/key_file',
  name: '/settings/address',
};

/** Pushes records to the `vector` source of a Vector, which acknowledges each request. */
export const vectorOutput: ConnectorCode = {
  createOutput(config, { egress }) {
    const { address, gzip } = readVectorTarget(config);
    const channel = new GrpcChannel({ egress, address, product: PRODUCT, gzip });
    return createEncodedOutput({
      batching: { records: 1_000, bytes: 1_500_000, waitMs: 1_000, waitFrom: 'write' },
      ordering: 'none',
      encode: ({ lines }) => ({ body: encodeEvents(lines), indexes: [...lines.keys()], rejected: [] }),
      async send(body, _indexes, signal): Promise<PartResult> {
        const result = await channel.call('/vector.Vector/PushEvents', body, signal);
        return 'refused' in result ? { partRejection: 'Vector does not accept this record.' } : {};
      },
      close: () => channel.close(),
    });
  },
  testConnection: createTester(fields, async (config, { egress, signal }) => {
    try {
      const { address } = readVectorTarget(config);
      const channel = new GrpcChannel({ egress, address, product: PRODUCT });
      try {
        const result = await channel.call('/vector.Vector/HealthCheck', new Uint8Array(), signal);
        // Field 1: 0, which is not sent, means that it is serving.
        return 'message' in result && result.message.length === 0
          ? passed('Vector is ready')
          : failed('upstream_error', 'Vector is not ready.', { hint: 'Try again later.' });
      } finally {
        await channel.close();
      }
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      return failureOf(error, fields);
    }
  }),
};
