import { ConnectorError, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { at } from '../_shared/read.js';
import { createAgentReceiver } from './receiver.js';

const UNSUPPORTED: readonly (readonly [path: readonly string[], message: string])[] = [
  [
    ['multiple_outputs'],
    'Logs and metrics are one stream here; use conditions to separate them. Turn off "Keep kinds apart".',
  ],
  [
    ['tls', 'verify_certificate'],
    'Agents can\'t be asked for a certificate here. Turn off "Ask senders for a certificate".',
  ],
  [['tls', 'verify_hostname'], 'The names of Agents can\'t be checked here. Turn off "Check the sender\'s name".'],
];

/** Receives logs and metrics of Datadog Agents, whose API key is the connector's token. */
export const datadogAgentInput: ConnectorCode = {
  createInput(config) {
    for (const [path, message] of UNSUPPORTED)
      if (at(config, 'settings', ...path) === true) throw new ConnectorError('invalid_config', message, 'permanent');
    return { kind: 'push' };
  },
  createReceiver: createAgentReceiver,
};
