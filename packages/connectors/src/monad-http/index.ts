import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { readRecords } from './read-records.js';

/** Receives records over the service's HTTP server. */
export const monadHttpInput: ConnectorCode = {
  createInput: () => ({ kind: 'push' }),
  receiver: {
    path: '',
    maxBytes: 32 * 1024 * 1024,
    read: readRecords,
    accepted: (count, tooLarge) => ({
      contentType: 'application/json; charset=utf-8',
      body: JSON.stringify({
        accepted: count - tooLarge.length,
        ...(tooLarge.length > 0 && { too_large: tooLarge }),
      }),
    }),
  },
};
