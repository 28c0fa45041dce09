import { ApiError } from '../api-error.js';
import type { Connector, Pipeline } from '../store/store.js';
import { presentUse } from './present-pipeline.js';

/** Thousands of pipelines may use one output; an error message needs only a few names. */
const MOST_NAMED = 20;

/**
 * Rejects the removal of a component that pipelines still use.
 * @throws ApiError 409, naming the pipelines
 */
export function requireUnused(what: string, used: readonly Pipeline[]): void {
  if (used.length === 0) return;
  throw new ApiError(409, 'conflict', `Pipelines still use this ${what}. Delete them first.`, {
    details: { pipelines: used.slice(0, MOST_NAMED).map(presentUse), total: used.length },
  });
}

/**
 * Rejects the removal of a connector that enrichments name in their settings.
 * @throws ApiError 409, naming the enrichments
 */
export function requireNotReferredTo(what: string, enrichments: readonly Pick<Connector, 'id' | 'name'>[]): void {
  if (enrichments.length === 0) return;
  throw new ApiError(409, 'conflict', `Enrichments still look up this ${what}. Delete or change them first.`, {
    details: {
      enrichments: enrichments.slice(0, MOST_NAMED).map(({ id, name }) => ({ id, name })),
      total: enrichments.length,
    },
  });
}
