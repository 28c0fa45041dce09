import type { Problem } from '@connector-frame/engine';
import { ApiError } from '../api-error.js';

/**
 * Creates the error for a pipeline or transform that can't run. The path of each problem is a JSON
 * pointer into the request body.
 */
export const invalidPipeline = (problems: readonly Problem[]): ApiError =>
  new ApiError(422, 'invalid_pipeline', 'The pipeline or transform is not valid.', { details: { issues: problems } });
