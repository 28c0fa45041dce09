import { isRecord } from '@connector-frame/engine';
import type { Reveal } from '../http/route.js';
import type { IngestTokens } from './tokens.js';

/**
 * Adds its token to each connector in an answer that records can be sent to, for a key that may write: it may build and
 * change the pipelines they go to. A session, or a key that may only read, sees where they are sent. What an
 * `Idempotency-Key` keeps of an answer has no token in it.
 */
export function createRevealTokens(tokens: IngestTokens): Reveal {
  const reveal = (body: unknown): unknown => {
    if (!isRecord(body)) return body;
    const { inputs, ingest, id } = body;
    if (Array.isArray(inputs)) return { ...body, inputs: inputs.map(reveal) };
    // One with a port of its own asks for certificates, not for a token.
    if (!isRecord(ingest) || ingest['port'] !== undefined || typeof id !== 'string') return body;
    return { ...body, ingest: { ...ingest, token: tokens.of(id) } };
  };
  return (answer, principal) =>
    principal?.type === 'key' && principal.key.permissions.includes('write')
      ? { ...answer, body: reveal(answer.body) }
      : answer;
}
