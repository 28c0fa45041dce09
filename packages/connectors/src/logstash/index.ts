import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createPortInput } from '../_shared/listen/port-input.js';
import { lumberjack } from './lumberjack.js';

/** Receives events of Beats and Logstash over the Lumberjack protocol, on the connector's port. */
export const logstashInput: ConnectorCode = {
  createInput: createPortInput(() => lumberjack),
  listens: true,
  scheme: 'tcp',
};
