import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createPortInput } from '../_shared/listen/port-input.js';
import { text } from '../_shared/read.js';
import { frameStreams } from './frame-streams.js';

/** Receives queries and responses of name servers over Frame Streams, on the connector's port. */
export const dnstapInput: ConnectorCode = {
  createInput: createPortInput((config) => frameStreams(text(config, 'settings', 'port_key') ?? 'port')),
  listens: true,
  scheme: 'tcp',
};
