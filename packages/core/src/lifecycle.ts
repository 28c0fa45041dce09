/** Parameters and results of the pipeline helpers. */

/**
 * Sends a request to the service. Add authentication, retries and logging here, on your backend:
 * the API key must not reach a browser.
 *
 * @param path path below the service's base URL, starting with `/`
 * @param init as for `fetch`
 * @returns the parsed JSON, or `undefined` for an empty body
 * @throws for any status other than success
 */
export type ServiceRequest = (path: string, init?: RequestInit) => Promise<unknown>;

/** Common parameters of the pipeline helpers. */
export interface IntegrationScope {
  /** Sends all requests of the helper. */
  request: ServiceRequest;
  /** Organization ID. */
  org: string;
  /** Aborts the helper: passed to each request, and no request is sent after it. */
  signal?: AbortSignal | undefined;
}

/** Parameters of `buildDevNullPipeline`. */
export interface BuildDevNullPipelineOptions extends IntegrationScope {
  inputId: string;
  /** Name of the output and the pipeline. */
  inputName: string;
  /**
   * Milliseconds to wait until the pipeline is running. `0`: doesn't wait, and returns the status
   * from its creation. Default: 10,000, or no limit with `pollAttempts`.
   */
  runningTimeout?: number | undefined;
  /** Maximum number of status requests while waiting. `0`: doesn't wait. Default: no limit. */
  pollAttempts?: number | undefined;
}

/** Parameters of `findIntegrationPipeline`. */
export interface FindIntegrationPipelineOptions extends IntegrationScope {
  inputId: string;
}

/** Parameters of `enableIntegration` and `disableIntegration`. */
export interface ToggleIntegrationOptions extends IntegrationScope {
  pipelineId: string;
}

/** Parameters of `setIntegrationEnabled`. */
export interface SetIntegrationEnabledOptions extends ToggleIntegrationOptions {
  /** `true` resumes the pipeline, `false` pauses it. */
  enabled: boolean;
}

/** Parameters of `deleteIntegration`. A part without an ID is kept. */
export interface DeleteIntegrationOptions extends IntegrationScope {
  pipelineId?: string | undefined;
  inputId?: string | undefined;
  outputId?: string | undefined;
  /** Which of the parts with an ID are deleted. Default: `CLEANUP_FULL`, all of them. */
  cleanup?: CleanupPolicy | undefined;
}

/** State of a pipeline, as observed by the engine. */
export type PipelineStatus = 'Unknown' | 'Pending' | 'Initializing' | 'Running' | 'Disabled' | 'Erroring' | 'Throttled';

/** A pipeline that was created for an input. */
export interface BuiltPipeline {
  pipelineId: string;
  outputId: string;
  status: PipelineStatus;
  /** Whether `status` is `Running`. */
  active: boolean;
}

/** The pipeline of an input. */
export interface ResolvedIntegration {
  /** Organization ID. */
  org: string;
  pipelineId: string;
  enabled: boolean;
  inputId: string;
  outputId?: string | undefined;
}

/**
 * The error of the request function, or the signal's reason, if an object that was created could
 * not be removed.
 */
export interface IntegrationError extends Error {
  /** The remaining objects, as parameters for `deleteIntegration`. */
  readonly created: { readonly outputId: string };
}

/** The parts to delete with an integration. An absent flag deletes; `false` keeps. */
export interface CleanupPolicy {
  readonly pipeline?: boolean;
  readonly input?: boolean;
  readonly output?: boolean;
}
