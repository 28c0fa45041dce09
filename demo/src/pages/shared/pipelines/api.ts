import type { BuiltPipeline, ConfiguredConnector, IntegrationStatus } from '@connector-frame/core/connect';
import { catalog, connectors, fetchJson } from '../host-api.js';
import type { Cleanup, IngestAddress, PipelineSnapshots, TestEventResult } from './shapes.js';

/** An input of the signed-in tenant. */
export interface Input {
  tenantId: string;
  inputId: string;
}

// Routes of `@connector-frame/host`.

/**
 * Builds a pipeline for an input.
 * @param outputId one of the tenant's outputs; `undefined` creates an output that drops everything
 */
export const build = (input: Input, inputName: string, outputId: string | undefined) =>
  fetchJson<BuiltPipeline>('/api/build-pipeline', { ...input, inputName, outputId });

export const act = (input: Input, action: 'pause' | 'resume') =>
  fetchJson<IntegrationStatus>('/api/integration-action', { ...input, action });

export const remove = (input: Input, cleanup: Cleanup) =>
  fetchJson<unknown>('/api/integration-action', { ...input, action: 'delete', cleanup });

// Routes of the demo server, behind the same sign-in.

/** Fetches the pipeline status of up to 20 inputs. */
export const snapshots = (tenantId: string, inputIds: readonly string[]) =>
  fetchJson<PipelineSnapshots>(
    `/demo/pipelines?${new URLSearchParams([['tenantId', tenantId], ...inputIds.map((id) => ['inputId', id])])}`,
  );

export const ingest = (input: Input) =>
  fetchJson<{ ingest: IngestAddress | null }>(`/demo/pipelines/ingest?${new URLSearchParams({ ...input })}`);

export const token = (input: Input) => fetchJson<{ token: string }>('/demo/pipelines/token', input);

export const testEvent = (input: Input) => fetchJson<TestEventResult>('/demo/pipelines/test-event', input);

export const logAddress = (input: Input, after: number | undefined) =>
  `/demo/pipelines/log?${new URLSearchParams({ ...input, ...(after !== undefined && { after: String(after) }) })}`;

let listed: { outputs: Promise<ConfiguredConnector[]>; until: number } | undefined;

/**
 * Returns the tenant's outputs. All rows of the page share one request, which is cached for 30 s.
 */
export function outputs(tenantId: string): Promise<ConfiguredConnector[]> {
  if (!listed || listed.until < Date.now()) {
    const request = connectors('output', tenantId);
    listed = { outputs: request, until: Date.now() + 30_000 };
    request.catch(() => (listed = undefined));
  }
  return listed.outputs;
}

let outputTypes: Promise<ReadonlySet<string>> | undefined;

/** Returns the output types that the service can save, but not run. Requested once per page. */
export function savedOnlyTypes(): Promise<ReadonlySet<string>> {
  outputTypes ??= catalog('output').then(
    (types) => new Set(types.filter(({ runtime }) => runtime === false).map(({ type_id }) => type_id)),
  );
  outputTypes.catch(() => (outputTypes = undefined));
  return outputTypes;
}

/** Drops the cached outputs after one was created or deleted. */
export const forgetOutputs = (): void => void (listed = undefined);
