import { setMaxListeners } from 'node:events';
import type { Bus } from '../bus/bus.js';
import type { Coordinator, Lease } from '../coordinator/coordinator.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import { routesOf } from '../pipeline/routes.js';
import { compileTransform, type CompiledTransform } from '../transforms/compile-transform.js';
import type { ResolveSecret, TransformConfig } from '../transforms/operation.js';
import { waitBeforeRetry, type RunContext } from './deliver.js';
import type { OutputPaths } from './deliver-paths.js';
import { ConnectorError, failureOf, type Enrichment, type Input, type Output } from '../connector-api/index.js';
import { enrichmentStage } from './enrichment-stage.js';
import { runBufferedPages } from './run-buffered-pages.js';
import { runPages } from './run-pages.js';
import { runReplays } from './run-replays.js';
import type { MissingPart } from './runner-options.js';
import { runStream } from './run-stream.js';
import { compilePaths } from './paths.js';
import type { PipelineContext } from './pipeline-context.js';

export interface RunParts {
  definition: PipelineDefinition;
  nodeId: string;
  input: Input;
  outputs: ReadonlyMap<string, Output>;
  transforms: ReadonlyMap<string, CompiledTransform>;
  enrichments: ReadonlyMap<string, Enrichment>;
  bus: Bus;
  /** Stream of the input. Absent if a polled input delivers directly to its output. */
  stream?: string;
  /** Reports the state of a push input's listener to the health of the new run. */
  reportListener?(): void;
  coordinator: Coordinator;
  lease: Lease;
}

/**
 * One run of a pipeline: starts when it is enabled and the lease is held, ends when it is stopped.
 */
export class Run {
  readonly #parts: RunParts;
  readonly #graceMs: number;
  /** Resolves once no work is in progress, or when unfinished work was abandoned; never rejects. */
  readonly ended: Promise<'stopped' | 'fenced'>;
  #abandon: () => void = () => undefined;
  readonly #stopping = new AbortController();
  readonly #aborted = new AbortController();
  readonly #context: RunContext;

  constructor(parts: RunParts, context: PipelineContext, graceMs: number) {
    this.#parts = parts;
    this.#graceMs = graceMs;
    this.#context = {
      ...context,
      stopping: this.#stopping.signal,
      aborted: this.#aborted.signal,
      gates: new Map(),
    };
    // Each output adds a listener.
    setMaxListeners(0, this.#stopping.signal, this.#aborted.signal);
    const abandoned = new Promise<'stopped'>((resolve) => (this.#abandon = () => resolve('stopped')));
    this.ended = Promise.race([this.#runSafely(), abandoned]);
  }

  get stopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Finishes the current work; aborts work that exceeds the grace period. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const done = new AbortController();
    const ended = this.ended.then(() => done.abort());
    await this.#context.clock.sleep(this.#graceMs, done.signal);
    this.#aborted.abort();
    await this.#context.clock.sleep(this.#graceMs, done.signal);
    // An output that ignores the abort is abandoned; its late write may be a duplicate.
    this.#abandon();
    await ended;
  }

  /** Aborts immediately; abandons work that ignores it. */
  abort(): void {
    this.#aborted.abort();
    void this.stop();
  }

  /** An unexpected error must not affect other pipelines. */
  async #runSafely(): Promise<'stopped' | 'fenced'> {
    try {
      return await this.#run();
    } catch (error) {
      const message = 'An unexpected error ended the run. It is restarted after a delay.';
      await waitBeforeRetry(this.#context, this.#parts.nodeId, { ...failureOf(error), message, kind: 'permanent' }, 1);
      return 'stopped';
    }
  }

  async #run(): Promise<'stopped' | 'fenced'> {
    const { definition, nodeId, input, outputs, transforms, enrichments, bus, stream, coordinator, lease } =
      this.#parts;
    const context = this.#context;
    const lookups = Array.from(
      enrichments,
      ([id, enrichment]) => [id, [enrichmentStage(context, id, enrichment)]] as const,
    );
    const to = [...compilePaths(definition, new Map([...transforms, ...lookups]))].flatMap(
      ([id, paths]): OutputPaths[] => {
        const output = outputs.get(id);
        return output ? [{ nodeId: id, output, paths }] : [];
      },
    );
    const used = new Set(to.flatMap(({ paths }) => paths.flatMap(({ stages }) => stages.map((stage) => stage.nodeId))));
    const onPaths = new Map([...enrichments].filter(([id]) => used.has(id)));
    context.health.reset([nodeId, ...to.map((each) => each.nodeId), ...onPaths.keys()]);
    const open = createOpen(context, onPaths);
    try {
      if (input.kind === 'pages' && stream === undefined) {
        const opened = await Promise.all(to.map(open));
        if (!opened.every(Boolean)) return 'stopped';
        const over = new AbortController();
        const replaying = { ...context, stopping: AbortSignal.any([context.stopping, over.signal]) };
        const replays = to.map((each) => runReplays(replaying, each));
        try {
          return await runPages({ context, pipelineId: definition.id, nodeId, input, outputs: to, coordinator, lease });
        } finally {
          over.abort();
          await Promise.all(replays);
        }
      }
      // Records for an output that is not ready wait in the buffer.
      this.#parts.reportListener?.();
      const delivered = Promise.all(
        to.map(async (each) => {
          if (stream === undefined || !(await open(each))) return;
          await Promise.all([runStream(context, bus, stream, each), runReplays(context, each)]);
        }),
      );
      if (input.kind === 'push' || stream === undefined) {
        await delivered;
        return 'stopped';
      }
      try {
        const pipelineId = definition.id;
        return await runBufferedPages({ context, pipelineId, nodeId, input, bus, stream, coordinator, lease });
      } finally {
        this.#stopping.abort();
        await delivered;
      }
    } finally {
      for (const { output, nodeId: id } of to) await close(context, id, output);
      for (const [id, enrichment] of onPaths) await close(context, id, enrichment);
    }
  }
}

/** Returns why a pipeline can't run, and at which node, or `undefined` if it can. */
export function missingPart(
  definition: PipelineDefinition,
  parts: {
    inputs: ReadonlyMap<string, Input>;
    outputs: ReadonlyMap<string, Output>;
    transforms: ReadonlyMap<string, TransformConfig>;
    enrichments?: ReadonlyMap<string, Enrichment>;
    resolveSecret?: ResolveSecret;
    problems?: ReadonlyMap<string, MissingPart>;
  },
): (MissingPart & { nodeId: string }) | undefined {
  if (routesOf(definition).size === 0) {
    const message = 'No path connects the input to an output. Add an edge.';
    return { nodeId: definition.nodes[0]?.id ?? '', code: 'incomplete', message };
  }
  const missing = definition.nodes.find(({ id, enabled, component_type: type }) => {
    if (!enabled) return false;
    if (type === 'input') return !parts.inputs.has(id);
    if (type === 'enrichment') return parts.enrichments?.has(id) !== true;
    return type === 'output' ? !parts.outputs.has(id) : !parts.transforms.has(id);
  });
  if (!missing) return unknownPart(definition, parts);
  const { id: nodeId, slug, component_type: type } = missing;
  const unknown = { code: 'no_runtime', message: `The ${type} ${slug} has no runtime here.` };
  return { nodeId, ...(parts.problems?.get(nodeId) ?? unknown) };
}

/**
 * A pipeline stored by a later release may contain conditions or operations unknown to this one.
 * Operations may also refer to secrets that are missing.
 */
function unknownPart(
  definition: PipelineDefinition,
  parts: { transforms: ReadonlyMap<string, TransformConfig>; resolveSecret?: ResolveSecret },
): ReturnType<typeof missingPart> {
  let nodeId = definition.nodes[0]?.id ?? '';
  try {
    compilePaths(definition, new Map());
    for (const [id, config] of parts.transforms) {
      nodeId = id;
      compileTransform(config, parts);
    }
    return undefined;
  } catch (error) {
    if (error instanceof ConnectorError) return { nodeId, code: error.code, message: error.message };
    const message = 'This release does not know a condition or an operation in this pipeline. Save it again.';
    return { nodeId, code: 'invalid_pipeline', message };
  }
}

/**
 * Returns a function that opens an output and the enrichments on its paths, each once, and retries
 * until it succeeds. It returns `false` if the run stopped first.
 */
function createOpen(
  context: RunContext,
  enrichments: ReadonlyMap<string, Enrichment>,
): (to: OutputPaths) => Promise<boolean> {
  const opening = new Map<string, Promise<boolean>>();
  return async ({ nodeId, output, paths }) => {
    const before = [...enrichments].filter(([id]) =>
      paths.some(({ stages }) => stages.some((stage) => stage.nodeId === id)),
    );
    for (const [id, enrichment] of before) {
      const opened = opening.get(id) ?? openNode(context, id, enrichment);
      opening.set(id, opened);
      if (!(await opened)) return false;
    }
    return openNode(context, nodeId, output);
  };
}

async function openNode(context: RunContext, nodeId: string, node: Pick<Output, 'open' | 'retry'>): Promise<boolean> {
  for (let attempt = 1; !context.stopping.aborted; attempt += 1) {
    try {
      await node.open?.(context.aborted);
      context.health.responded(nodeId);
      return true;
    } catch (error) {
      if (!(await waitBeforeRetry(context, nodeId, failureOf(error), attempt, node.retry))) return false;
    }
  }
  return false;
}

async function close(context: RunContext, nodeId: string, node: Pick<Output, 'close'>): Promise<void> {
  try {
    await node.close?.();
  } catch (error) {
    const { code } = failureOf(error);
    context.log({ level: 'warn', code: 'close_failed', message: `The node could not be closed (${code}).`, nodeId });
  }
}
