import { isRecord } from '@connector-frame/engine';
import { hasPermission } from '../auth/key-permissions.js';
import type { Reveal } from '../http/route.js';
import type { IngestTokens } from './tokens.js';

/**
 * Adds the token to each connector in a response that records can be sent to, for a caller with the
 * permission `input:write`. A session or a read-only key sees only the address. A response that is
 * stored for an `Idempotency-Key` contains no token.
 */
export function createRevealTokens(tokens: IngestTokens): Reveal {
  const reveal = (body: unknown): unknown => {
    if (!isRecord(body)) return body;
    const { inputs, ingest, id } = body;
    if (Array.isArray(inputs)) return { ...body, inputs: inputs.map(reveal) };
    // A connector with a port of its own has no token; its senders need a certificate.
    if (!isRecord(ingest) || ingest['port'] !== undefined || typeof id !== 'string') return body;
    return { ...body, ingest: { ...ingest, token: tokens.of(id) } };
  };
  return (response, principal) =>
    hasPermission(principal, 'input:write') ? { ...response, body: reveal(response.body) } : response;
}
