import { createHash } from 'node:crypto';
import { ApiError } from './api-error.js';

/** ETag of a resource that counts its changes. */
export const versionTag = (version: number): string => `"v${version}"`;

/** ETag of a text. */
export const textTag = (text: string | Uint8Array): string =>
  `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;

/** Whether the client already has what carries this tag (`If-None-Match`). */
export const isCurrent = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch !== undefined && includesTag(ifNoneMatch, tag);

/**
 * Refuses a change of something the client has not seen.
 * @throws ApiError 412 when `If-Match` is given and does not name the present tag
 */
export function requireMatch(ifMatch: string | undefined, tag: string): void {
  if (ifMatch === undefined || includesTag(ifMatch, tag)) return;
  throw new ApiError(412, 'precondition_failed', 'This was changed since you read it. Read it again, then change it.', {
    headers: { ETag: tag },
  });
}

// Proxies that compress make tags weak; our tags stay exact all the same.
const includesTag = (header: string, tag: string): boolean =>
  header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === tag);
