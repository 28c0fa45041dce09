import type { Receiver } from '@connector-frame/engine/connector-api';
import { readRecords } from './read-records.js';

/** Receives a JSON object, an array of objects, or NDJSON. */
export const receiver: Receiver = {
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
};
