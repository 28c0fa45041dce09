import type { IntegrationScope } from '../lifecycle.js';
import { ask, segment } from './ask.js';

/** Which pipeline is meant. */
type PipelineScope = IntegrationScope & { pipelineId: string };

/**
 * Resumes (`enabled: true`) or pauses a pipeline. Resolves once the service has taken it down; its status follows.
 *
 * Where the service can't change the one field, the whole pipeline is read and sent back with every field it came with.
 */
export async function setIntegrationEnabled(options: PipelineScope & { enabled: boolean }): Promise<void> {
  const { pipelineId, enabled } = options;
  const path = 'pipelines/' + segment(pipelineId);
  const whole = async () => ask(options, 2, path, { ...(await ask(options, 2, path)), enabled }, undefined, 'PATCH');
  await ask(options, 1, path, { enabled }, whole, 'PATCH');
}

/** Resumes a pipeline: {@link setIntegrationEnabled} with `enabled: true`. */
export function enableIntegration(options: PipelineScope): Promise<void> {
  return setIntegrationEnabled({ ...options, enabled: true });
}

/** Pauses a pipeline: {@link setIntegrationEnabled} with `enabled: false`. What is on its way is kept. */
export function disableIntegration(options: PipelineScope): Promise<void> {
  return setIntegrationEnabled({ ...options, enabled: false });
}
