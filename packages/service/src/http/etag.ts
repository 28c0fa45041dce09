import { createHash } from 'node:crypto';
import { ApiError } from '../api-error.js';

/** Returns the ETag of a resource with a version number. */
export const versionTag = (version: number): string => `"v${version}"`;

/** Returns the ETag of a text, derived from its hash. */
export const textTag = (text: string | Uint8Array): string =>
  `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;

/** Returns whether `If-None-Match` lists the tag, so the client already has this content. */
export const isCurrent = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch !== undefined && includesTag(ifNoneMatch, tag);

/**
 * Rejects a change that is based on an outdated version.
 * @throws ApiError 412 if `If-Match` is present and does not list the current tag
 */
export function requireMatch(ifMatch: string | undefined, tag: string): void {
  if (ifMatch === undefined || includesTag(ifMatch, tag)) return;
  throw new ApiError(
    412,
    'precondition_failed',
    'The resource has changed since it was read. Read it again and retry.',
    {
      headers: { ETag: tag },
    },
  );
}

// Proxies that compress responses make tags weak (`W/`). Ignore the prefix: it still names the same
// version.
const includesTag = (header: string, tag: string): boolean =>
  header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === tag);
