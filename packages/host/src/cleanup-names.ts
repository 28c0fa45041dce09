import {
  CLEANUP_FULL,
  CLEANUP_KEEP_OUTPUT,
  CLEANUP_PIPELINE_ONLY,
  type CleanupPolicy,
} from '@connector-frame/core/connect';

/** Cleanup policies of `delete`, by the names that pages and options use. */
export type CleanupName = 'full' | 'keep-output' | 'pipeline-only';

export const cleanupPolicies: Readonly<Record<CleanupName, CleanupPolicy>> = {
  full: CLEANUP_FULL,
  'keep-output': CLEANUP_KEEP_OUTPUT,
  'pipeline-only': CLEANUP_PIPELINE_ONLY,
};

export function isCleanupName(value: unknown): value is CleanupName {
  return typeof value === 'string' && Object.hasOwn(cleanupPolicies, value);
}
