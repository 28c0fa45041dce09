import { z } from '@hono/zod-openapi';
import { isRecord, type DataRecord } from '@connector-frame/engine';
import { invalidRequest } from '../api-error.js';

/** Any JSON object. */
export const JsonObject = z.record(z.string(), z.unknown()).openapi('JsonObject');

/** A record in a request. */
export const AnyRecord = z
  .union([JsonObject, z.string(), z.array(z.int().min(0).max(255))])
  .openapi({ description: 'A JSON object; also as JSON text, as base64 of it, or as its bytes.' });

/**
 * Returns the record in a request.
 * @throws ApiError 400
 */
export function recordIn(given: z.output<typeof AnyRecord>): DataRecord {
  const text = Array.isArray(given) ? Buffer.from(given).toString('utf8') : given;
  try {
    const parsed: unknown = typeof text === 'string' ? JSON.parse(textIn(text)) : text;
    if (isRecord(parsed)) return parsed;
  } catch {
    // Falls through to the same message.
  }
  throw invalidRequest('The record is no JSON object.', { issues: [{ path: '/record', message: 'Not an object.' }] });
}

const textIn = (given: string): string =>
  given.trimStart().startsWith('{') ? given : Buffer.from(given, 'base64').toString('utf8');

/** JSON as the bytes of its text, which is how the schemas of the public API describe it. */
export const JsonBytes = z
  .array(z.int().min(0).max(255))
  .openapi({ description: 'JSON, as the bytes of its text in UTF-8.' });

/** Returns the bytes of a text. */
export const bytesOf = (text: string): number[] => [...Buffer.from(text)];
