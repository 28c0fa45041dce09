import { timingSafeEqual } from 'node:crypto';
import type { Vault } from '../secrets/vault.js';

/** Tokens that allow sending records to one connector, and nothing else. */
export interface IngestTokens {
  /**
   * Returns the 256-bit token of a connector, which is always the same and differs by connector.
   */
  of(connectorId: string): string;
  /**
   * Returns whether this is the token of that connector, in constant time. Does not check whether
   * the connector exists.
   */
  isOf(connectorId: string, token: string): boolean;
}

/** Distinguishes the token from other secrets, for people and for scanners of leaked secrets. */
const PREFIX = 'cfi_';

/**
 * Derives the tokens from the service's own key, so nothing is stored, and they survive a change of
 * the master key.
 */
export function createIngestTokens(vault: Pick<Vault, 'digest'>): IngestTokens {
  const of = (connectorId: string): string => PREFIX + vault.digest('ingest', connectorId).toString('base64url');
  return {
    of,
    isOf(connectorId, token) {
      const expected = Buffer.from(of(connectorId));
      const given = Buffer.from(token);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
