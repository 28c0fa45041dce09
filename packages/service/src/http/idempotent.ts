import { randomUUID } from 'node:crypto';
import type { Principal } from '../auth/principal.js';
import type { Clock } from '../clock.js';
import type { Vault } from '../secrets/vault.js';
import type { Store } from '../store/store.js';
import { ApiError, invalidRequest } from '../api-error.js';
import type { ResponseData, Commit, Transact } from './route.js';

/** Milliseconds for which a response can be replayed. */
const RETENTION_MS = 24 * 3_600_000;
/**
 * Duration of a claim, in milliseconds. It is longer than any request can take: when it expires,
 * the process that made the claim is considered dead.
 */
const LEASE = 60_000;

export interface Intent {
  organizationId: string;
  /** Value of the `Idempotency-Key` header. */
  key: string;
  /** Everything that identifies the request: method, URL, body. */
  request: string;
  /**
   * Kind of caller. The response to an API key, which has more rights, is never replayed to a
   * session.
   */
  principal: Principal['type'];
  /** Runs the writes and stores the response. */
  transact: Transact;
}

/** Stored form of a response. `principal` is absent in rows of earlier releases. */
interface StoredResponse extends ResponseData {
  principal?: Principal['type'];
}

/**
 * Runs `handle` at most once per `Idempotency-Key` of an organization, and replays its response to
 * repeated requests. The caller must already have checked that the principal may make the request.
 */
export type Idempotently = (intent: Intent, handle: (commit: Commit) => Promise<ResponseData>) => Promise<ResponseData>;

/**
 * 1. one request claims the key, for a limited time
 * 2. the handler's writes and the response are committed in one transaction, so that a crash leaves
 *    both or neither
 * 3. an error releases the key: nothing was written, and the next attempt may differ
 */
export function createIdempotently(store: Store, vault: Vault, clock: Clock): Idempotently {
  return async ({ organizationId, key, request, principal, transact }, handle) => {
    if (!/^[\x21-\x7e]{1,255}$/.test(key))
      throw invalidRequest('An Idempotency-Key is 1 to 255 visible ASCII characters.');
    const owner = randomUUID();
    const now = clock.now();
    const claim = await store.idempotency.claim({
      organizationId,
      key,
      // An HMAC, because the body contains secrets: with a plain digest, a weak one could be
      // guessed.
      digest: vault.digest('request', request),
      owner,
      now: new Date(now),
      lockedUntil: new Date(now + LEASE),
      expiresAt: new Date(now + RETENTION_MS),
    });
    if (claim.state === 'mismatch') throw mismatch();
    if (claim.state === 'in_flight') {
      const headers = { 'Retry-After': '1' };
      throw new ApiError(409, 'idempotency_conflict', 'The first request with this Idempotency-Key is still running.', {
        headers,
      });
    }
    if (claim.state === 'done') {
      const { principal: first = principal, ...response }: StoredResponse = JSON.parse(claim.response);
      if (first !== principal) throw mismatch();
      return { ...response, headers: { ...response.headers, 'Idempotency-Replayed': 'true' } };
    }
    try {
      return await handle((work) =>
        transact(async (tables) => {
          const response = await work(tables);
          const stored: StoredResponse = { ...response, principal };
          if (!(await tables.idempotency.complete(organizationId, key, owner, JSON.stringify(stored)))) {
            throw new ApiError(
              409,
              'idempotency_conflict',
              'Another request with this Idempotency-Key has completed first.',
            );
          }
          return response;
        }),
      );
    } catch (error) {
      // If this fails as well, the claim expires. The caller needs the first error.
      await store.idempotency.release(organizationId, key, owner).catch(() => undefined);
      throw error;
    }
  };
}

const mismatch = (): ApiError =>
  new ApiError(422, 'idempotency_mismatch', 'This Idempotency-Key was used for another request. Use a new key.');
