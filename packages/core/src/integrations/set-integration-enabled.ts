import type { SetIntegrationEnabledOptions, ToggleIntegrationOptions } from '../lifecycle.js';
import { callService, segment } from './call-service.js';

/**
 * Resumes (`enabled: true`) or pauses a pipeline. Resolves when the service has stored the change;
 * the status changes later.
 *
 * If the service can't change the single field, reads the whole pipeline and sends it back.
 */
export async function setIntegrationEnabled(options: SetIntegrationEnabledOptions): Promise<void> {
  const { pipelineId, enabled } = options;
  const path = 'pipelines/' + segment(pipelineId);
  const whole = async () =>
    callService(options, 2, path, { ...(await callService(options, 2, path)), enabled }, undefined, 'PATCH');
  await callService(options, 1, path, { enabled }, whole, 'PATCH');
}

/** Resumes a pipeline: {@link setIntegrationEnabled} with `enabled: true`. */
export function enableIntegration(options: ToggleIntegrationOptions): Promise<void> {
  return setIntegrationEnabled({ ...options, enabled: true });
}

/**
 * Pauses a pipeline: {@link setIntegrationEnabled} with `enabled: false`. Buffered records are
 * kept.
 */
export function disableIntegration(options: ToggleIntegrationOptions): Promise<void> {
  return setIntegrationEnabled({ ...options, enabled: false });
}
