import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createPortInput } from '../_shared/listen/port-input.js';
import { forward } from './forward.js';

/** Receives events over the forward protocol of Fluentd, on the connector's port. */
export const fluentdInput: ConnectorCode = {
  createInput: createPortInput(() => forward),
  listens: true,
  scheme: 'tcp',
};
