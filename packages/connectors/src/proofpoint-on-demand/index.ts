import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { brokerError } from '../_shared/broker/connection.js';
import { createBrokerTester } from '../_shared/broker/create-broker-tester.js';
import { invalidConfig } from '../_shared/output/send.js';
import { text } from '../_shared/read.js';
import { openWebSocket } from '../_shared/websocket/client.js';
import { keepAlive } from '../_shared/websocket/keep-alive.js';
import { createMessageInput } from '../_shared/websocket/message-input.js';
import { readTarget, timeOf, timeParameter } from './config.js';

const PRODUCT = 'Proofpoint';
const PING_MS = 30_000;
/** Events do not arrive exactly in the order of their time. */
const OVERLAP_MS = 60_000;

/** Receives events as they happen. A connection that broke continues a minute before its last event. */
export const proofpointOnDemandEventsInput: ConnectorCode = {
  createInput: (config, { egress, clock }) => {
    const start = text(config.settings, 'since_time');
    const from = start === undefined ? undefined : Date.parse(start);
    if (Number.isNaN(from)) throw invalidConfig('The start time is not a valid date and time.');
    readTarget(config, undefined);
    let last = from;
    return createMessageInput({
      product: PRODUCT,
      clock,
      async open(signal) {
        const since = last === undefined ? undefined : timeParameter(last);
        const client = await openWebSocket(egress, readTarget(config, since), PRODUCT, signal);
        keepAlive(client, PING_MS, PING_MS);
        last ??= clock.now();
        return client;
      },
      stored(message) {
        const time = timeOf(message);
        if (time !== undefined) last = Math.max(last ?? 0, time - OVERLAP_MS);
      },
    });
  },
  testConnection: createBrokerTester({
    fields: {
      product: PRODUCT,
      address: '/settings/api_host',
      user: '/settings/cluster_id',
      password: '/secrets/api_key',
      name: '/settings/cluster_id',
    },
    connect: (config, egress, signal) => openWebSocket(egress, readTarget(config, undefined), PRODUCT, signal),
    check: () => Promise.resolve('Proofpoint accepted the API key.'),
    close: (client) => client.terminate(),
    convert: (error) => brokerError(error, PRODUCT),
  }),
};
