import type { Problem } from '@connector-frame/engine';
import { ApiError } from '../http/api-error.js';

/** A pipeline or transform that could not do its work, with the place of each problem as a pointer from the body. */
export const invalidPipeline = (problems: readonly Problem[]): ApiError =>
  new ApiError(422, 'invalid_pipeline', 'This could not run as it is.', { details: { issues: problems } });
