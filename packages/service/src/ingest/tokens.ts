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
  /**
   * Returns the last part of a connector's address, for a type whose senders can't present the
   * token: `<id>.<tag>`. Knowing the id is not enough to send a request to the connector.
   */
  addressOf(connectorId: string): string;
  /** Returns the id in such a part, or `undefined` if its tag is wrong, in constant time. */
  idAt(address: string): string | undefined;
}

/** Distinguishes the token from other secrets, for people and for scanners of leaked secrets. */
const PREFIX = 'cfi_';

/** 128 bits. */
const TAG_LENGTH = 22;

const isEqual = (given: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
};

/**
 * Derives the tokens from the service's own key, so nothing is stored, and they survive a change of
 * the master key.
 */
export function createIngestTokens(vault: Pick<Vault, 'digest'>): IngestTokens {
  const of = (connectorId: string): string => PREFIX + vault.digest('ingest', connectorId).toString('base64url');
  const tagOf = (connectorId: string): string =>
    vault.digest('ingest-address', connectorId).toString('base64url').slice(0, TAG_LENGTH);
  return {
    of,
    isOf: (connectorId, token) => isEqual(token, of(connectorId)),
    addressOf: (connectorId) => `${connectorId}.${tagOf(connectorId)}`,
    idAt(address) {
      const [, id, tag] = /^([\w-]{1,64})\.([\w-]+)$/.exec(address) ?? [];
      return id !== undefined && tag !== undefined && isEqual(tag, tagOf(id)) ? id : undefined;
    },
  };
}
