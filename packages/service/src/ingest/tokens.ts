import { timingSafeEqual } from 'node:crypto';
import type { Vault } from '../secrets/vault.js';

/** Tokens with which records may be sent to a connector, and nothing else. */
export interface IngestTokens {
  /** The same at every call; 256 bits. Another connector has another one. */
  of(connectorId: string): string;
  /** Whether it is the token of that connector, in a time that tells nothing of it. Asks nobody whether the connector is there. */
  isOf(connectorId: string, token: string): boolean;
}

/** Tells the token from other secrets, for people and for scanners of leaked ones. */
const PREFIX = 'cfi_';

/** They are derived from the service's own key, so nothing is stored, and they survive a change of the master key. */
export function createIngestTokens(vault: Pick<Vault, 'digest'>): IngestTokens {
  const of = (connectorId: string): string => PREFIX + vault.digest('ingest', connectorId).toString('base64url');
  return {
    of,
    isOf(connectorId, token) {
      const wanted = Buffer.from(of(connectorId));
      const given = Buffer.from(token);
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    },
  };
}
