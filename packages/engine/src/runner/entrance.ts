import type { Bus } from '../bus/bus.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import { routesOf } from '../pipeline/routes.js';
import { Door } from './door.js';
import { failureOf, type Appended, type AppendOptions, type Input } from './ends.js';
import { Intake } from './intake.js';
import type { WorkMeans } from './work-means.js';

/**
 * The input of a pipeline for the lifetime of its runner. A push input receives records whether or
 * not a run is active.
 */
export class Entrance {
  #intake: Intake | undefined;
  #door: Door | undefined;

  /** @param place the input and its node; absent if the pipeline has none */
  constructor(
    private readonly definition: PipelineDefinition,
    readonly place: { readonly nodeId: string; readonly input: Input } | undefined,
    private readonly bus: Bus,
    private readonly means: WorkMeans,
  ) {}

  /** Name of a push input's stream on the bus. */
  get stream(): string | undefined {
    return this.place?.input.kind === 'push' ? `${this.definition.id}.${this.place.nodeId}` : undefined;
  }

  /** Listener of a push input, once it was opened. */
  get door(): Door | undefined {
    return this.#door;
  }

  /** Starts a push input; resolves after the first attempt. */
  async open(): Promise<void> {
    const { bus, definition, means, stream } = this;
    if (!this.place || stream === undefined) return;
    const { nodeId, input } = this.place;
    // Only outputs on a path are consumers: records for any other output would fill the buffer.
    await bus.declare(stream, [...routesOf(definition).keys()]);
    const { counters, deadLetters, health, clock, backoff } = means;
    this.#intake = new Intake({
      bus,
      stream,
      pipelineId: definition.id,
      nodeId,
      counters,
      deadLetters,
      now: () => clock.now(),
      log: (entry) => means.log(entry),
    });
    if (input.kind !== 'push') return;
    this.#door = new Door(nodeId, input, health, clock, backoff);
    await this.#door.open(this.#intake);
  }

  /**
   * Stores records of a push input.
   * @throws {BusError}
   */
  append(lines: readonly string[], options?: AppendOptions): Promise<Appended> {
    return this.#intake?.append(lines, options) ?? Promise.resolve({ stored: false, reason: 'closed' });
  }

  /** Stops accepting records; resolves once all pending appends have settled. */
  async shut(): Promise<void> {
    await this.#closing(() => this.#door?.close());
    await this.#intake?.close();
  }

  /** Closes a page input after its last read. A push input is closed by its listener. */
  async closeInput(): Promise<void> {
    const { input } = this.place ?? {};
    if (input?.kind === 'pages') await this.#closing(() => input.close?.());
  }

  /** An input that fails to close must not block the shutdown. */
  async #closing(close: () => Promise<void> | undefined): Promise<void> {
    try {
      await close();
    } catch (error) {
      const { code } = failureOf(error);
      this.means.log({ level: 'warn', code: 'close_failed', message: `The input could not be closed (${code}).` });
    }
  }
}
