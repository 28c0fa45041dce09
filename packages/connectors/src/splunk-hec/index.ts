import { ConnectorError, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { at } from '../_shared/read.js';
import { createHecReceiver } from './receiver.js';

/** Receives events that senders deliver as to a Splunk HTTP Event Collector. */
export const splunkHecInput: ConnectorCode = {
  createInput(config) {
    for (const switched of ['verify_certificate', 'verify_hostname'])
      if (at(config, 'settings', 'tls', switched) === true)
        throw new ConnectorError(
          'invalid_config',
          'Senders can\'t be asked for a certificate here. Turn off what checks them under "Encryption".',
          'permanent',
        );
    return { kind: 'push' };
  },
  createReceiver: createHecReceiver,
};
