import { RequestError, type RequestHead } from '@connector-frame/engine/connector-api';
import type { ReplayGuard } from './replay-guard.js';

/** Recognizes the senders of a connector. */
export interface SenderCheck {
  /** Checks what shows without the body. @throws RequestError 401 */
  begin(head: RequestHead): void;
  /**
   * Checks what depends on the body, which is decompressed.
   *
   * @returns the signature, if there is one, by which a repetition is recognized
   * @throws RequestError
   */
  verify(body: Buffer, head: RequestHead): Promise<Signature | undefined>;
}

export interface Signature {
  /** Identifies the signed part. */
  readonly key: string;
  /** Whether a request with this signature was stored before. */
  readonly isRepeated: boolean;
  /** Call it once the records are stored. */
  stored(): void;
}

export const signatureOf = (key: string, replays: ReplayGuard): Signature => ({
  key,
  isRepeated: replays.has(key),
  stored: () => replays.add(key),
});

/** The message is the same for an absent and a wrong credential. */
export const refused = (what: string): RequestError => new RequestError(401, `Not accepted: ${what}.`);
