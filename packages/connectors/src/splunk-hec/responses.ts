import type { RequestResponse } from '@connector-frame/engine/connector-api';

/**
 * Responses by their text, as documented:
 * https://docs.splunk.com/Documentation/Splunk/latest/Data/TroubleshootHTTPEventCollector
 */
const CODES = {
  Success: { status: 200, code: 0 },
  'Token is required': { status: 401, code: 2 },
  'Invalid authorization': { status: 401, code: 3 },
  'Invalid token': { status: 403, code: 4 },
  'No data': { status: 400, code: 5 },
  'Invalid data format': { status: 400, code: 6 },
  'Server is busy': { status: 503, code: 9 },
  'Data channel is missing': { status: 400, code: 10 },
  'Event field is required': { status: 400, code: 12 },
  'Event field cannot be blank': { status: 400, code: 13 },
  'Query string authorization is not enabled': { status: 400, code: 16 },
  'HEC is healthy': { status: 200, code: 17 },
} as const;

export type HecText = keyof typeof CODES;

const isHecText = (text: string): text is HecText => Object.hasOwn(CODES, text);

export const hecResponse = (text: HecText, more: Readonly<Record<string, number>> = {}): RequestResponse => ({
  status: CODES[text].status,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify({ text, code: CODES[text].code, ...more }),
});

/**
 * Builds the response to a rejected request. Senders retry 503 alone, so that is what a full buffer
 * or a missing pipeline gets; the text says which.
 */
export function hecRejection(status: number, message: string): RequestResponse {
  if (isHecText(message)) return hecResponse(message);
  const isTemporary = [409, 429, 500, 503].includes(status);
  return {
    status: isTemporary ? 503 : status,
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify({ text: message, code: isTemporary ? 9 : 6 }),
  };
}
