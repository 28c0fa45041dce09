import { randomUUID } from 'node:crypto';
import type { Principal } from '../auth/principal.js';
import type { Clock } from '../clock.js';
import type { Vault } from '../secrets/vault.js';
import type { Store } from '../store/store.js';
import { ApiError, invalidRequest } from './api-error.js';
import type { Answer, Commit } from './route.js';

/** Milliseconds. */
const REMEMBER = 24 * 3_600_000;
/** Longer than any request may take; after that the process that took the key is believed dead. */
const LEASE = 60_000;

export interface Intent {
  organizationId: string;
  /** The `Idempotency-Key` as it came. */
  key: string;
  /** All that makes two requests the same: method, address, body. */
  request: string;
  /** Kind of caller. The answer to an API key, which has more rights, is never replayed to a session. */
  principal: Principal['type'];
}

/** As it is stored. `principal` is absent in what earlier releases stored. */
interface StoredAnswer extends Answer {
  principal?: Principal['type'];
}

/**
 * One effect per `Idempotency-Key` of an organization, and the same answer each time. The caller has checked before that
 * the principal may make this request.
 */
export type Idempotently = (intent: Intent, handle: (commit: Commit) => Promise<Answer>) => Promise<Answer>;

/**
 * 1. the key is taken, for a limited time, by one request alone
 * 2. the handler's writes and the answer are committed together, so that a crash leaves both or none
 * 3. a refusal gives the key back: nothing has happened, the next try may differ
 */
export function createIdempotently(store: Store, vault: Vault, clock: Clock): Idempotently {
  return async ({ organizationId, key, request, principal }, handle) => {
    if (!/^[\x21-\x7e]{1,255}$/.test(key))
      throw invalidRequest('An Idempotency-Key is 1 to 255 visible ASCII characters.');
    const owner = randomUUID();
    const now = clock.now();
    const claim = await store.idempotency.claim({
      organizationId,
      key,
      // An HMAC: the body holds secrets, and a plain digest of a weak one could be guessed.
      digest: vault.digest('request', request),
      owner,
      now: new Date(now),
      lockedUntil: new Date(now + LEASE),
      expiresAt: new Date(now + REMEMBER),
    });
    if (claim.state === 'mismatch') throw mismatch();
    if (claim.state === 'in_flight') {
      const headers = { 'Retry-After': '1' };
      throw new ApiError(409, 'idempotency_conflict', 'The first request with this Idempotency-Key is still running.', {
        headers,
      });
    }
    if (claim.state === 'done') {
      const { principal: first = principal, ...answer }: StoredAnswer = JSON.parse(claim.answer);
      if (first !== principal) throw mismatch();
      return { ...answer, headers: { ...answer.headers, 'Idempotency-Replayed': 'true' } };
    }
    try {
      return await handle((work) =>
        store.transaction(async (tables) => {
          const answer = await work(tables);
          const stored: StoredAnswer = { ...answer, principal };
          if (!(await tables.idempotency.complete(organizationId, key, owner, JSON.stringify(stored)))) {
            throw new ApiError(409, 'idempotency_conflict', 'Another request with this Idempotency-Key was faster.');
          }
          return answer;
        }),
      );
    } catch (error) {
      await store.idempotency.release(organizationId, key, owner);
      throw error;
    }
  };
}

const mismatch = (): ApiError =>
  new ApiError(422, 'idempotency_mismatch', 'This Idempotency-Key was used for another request. Use a new key.');
