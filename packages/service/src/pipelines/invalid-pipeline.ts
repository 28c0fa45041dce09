import { ApiError } from '../api-error.js';

/** A problem with a pipeline or transform, from the engine or about the configuration of a node. */
export interface FoundProblem {
  /** JSON Pointer into the request body. */
  readonly path: string;
  /** A stable code. */
  readonly code: string;
  readonly message: string;
}

/** Creates the error for a pipeline or condition that can't run. */
export const invalidPipeline = (problems: readonly FoundProblem[]): ApiError =>
  new ApiError(400, 'invalid_pipeline', 'The pipeline or condition is not valid.', { details: { issues: problems } });

/** Creates the error for a transform that can't run. */
export const invalidTransform = (problems: readonly FoundProblem[]): ApiError =>
  new ApiError(422, 'invalid_transform', 'The transform is not valid.', { details: { issues: problems } });
