/** Types of a pipeline's life on the service: what the lifecycle helpers take and return. */

/**
 * Calls the service: `path` is relative to its base address and starts with `/`, `init` is as for `fetch`.
 * Resolves to the parsed JSON, or `undefined` for an empty body; rejects on any status that is no success.
 * Authentication, retries and logging belong inside. Build it on your backend: the API key never leaves there.
 */
export type ServiceRequest = (path: string, init?: RequestInit) => Promise<unknown>;

/** What every lifecycle helper takes: how to reach the service, and for whom. */
export interface IntegrationScope {
  /** All that a helper asks of the service goes through it. */
  request: ServiceRequest;
  /** Team organization id. */
  org: string;
  /** Ends the work: it goes to every request, and none is made after it. */
  signal?: AbortSignal | undefined;
}

/** State of a pipeline, measured by the engine. */
export type PipelineStatus = 'Unknown' | 'Pending' | 'Initializing' | 'Running' | 'Disabled' | 'Erroring' | 'Throttled';

/** A pipeline just built for an input. */
export interface BuiltPipeline {
  pipelineId: string;
  outputId: string;
  status: PipelineStatus;
  /** Whether `status` was `Running` when the building ended. */
  active: boolean;
}

/** The pipeline of an input's integration. */
export interface ResolvedIntegration {
  /** Team organization id. */
  org: string;
  pipelineId: string;
  enabled: boolean;
  inputId: string;
  outputId?: string | undefined;
}

/** What the request function threw, or the signal's reason, after something was made that could not be removed again. */
export interface IntegrationError extends Error {
  /** What there is now: `deleteIntegration` takes it. */
  readonly created: { readonly outputId: string };
}

/** What goes when an integration is deleted. An absent flag deletes; `false` keeps. */
export interface CleanupPolicy {
  readonly pipeline?: boolean;
  readonly input?: boolean;
  readonly output?: boolean;
}
