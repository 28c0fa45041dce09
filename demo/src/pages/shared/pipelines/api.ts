import type { BuiltPipeline, ConfiguredConnector, IntegrationStatus } from '@connector-frame/core/connect';
import { ask, connectors } from '../host-api.js';
import type { Cleanup, IngestPlace, PipelineSnapshots, TestEventAnswer } from './shapes.js';

/** An input of whoever is signed in. */
export interface Input {
  tenantId: string;
  inputId: string;
}

// The host's own routes.

/** @param outputId one of the tenant's outputs; `undefined`: a new one that drops everything */
export const build = (input: Input, inputName: string, outputId: string | undefined) =>
  ask<BuiltPipeline>('/api/build-pipeline', { ...input, inputName, outputId });

export const act = (input: Input, action: 'pause' | 'resume') =>
  ask<IntegrationStatus>('/api/integration-action', { ...input, action });

export const remove = (input: Input, cleanup: Cleanup) =>
  ask<unknown>('/api/integration-action', { ...input, action: 'delete', cleanup });

// The demo server's, behind the same sign-in.

/** How the pipelines of up to 20 inputs do. */
export const snapshots = (tenantId: string, inputIds: readonly string[]) =>
  ask<PipelineSnapshots>(
    `/demo/pipelines?${new URLSearchParams([['tenantId', tenantId], ...inputIds.map((id) => ['inputId', id])])}`,
  );

export const ingest = (input: Input) =>
  ask<{ ingest: IngestPlace | null }>(`/demo/pipelines/ingest?${new URLSearchParams({ ...input })}`);

export const token = (input: Input) => ask<{ token: string }>('/demo/pipelines/token', input);

export const testEvent = (input: Input) => ask<TestEventAnswer>('/demo/pipelines/test-event', input);

export const logAddress = (input: Input, after: number | undefined) =>
  `/demo/pipelines/log?${new URLSearchParams({ ...input, ...(after !== undefined && { after: String(after) }) })}`;

let listed: { outputs: Promise<ConfiguredConnector[]>; until: number } | undefined;

/** The tenant's outputs: asked for once, whoever on the page wants them. */
export function outputs(tenantId: string): Promise<ConfiguredConnector[]> {
  if (!listed || listed.until < Date.now()) {
    const asked = connectors('output', tenantId);
    listed = { outputs: asked, until: Date.now() + 30_000 };
    asked.catch(() => (listed = undefined));
  }
  return listed.outputs;
}

/** One was made or deleted. */
export const forgetOutputs = (): void => void (listed = undefined);
