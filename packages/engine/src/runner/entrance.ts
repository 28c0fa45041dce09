import type { Bus } from '../bus/bus.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import { routesOf } from '../pipeline/routes.js';
import { Door } from './door.js';
import { failureOf, type Appended, type AppendOptions, type Input } from './ends.js';
import { Intake } from './intake.js';
import type { WorkMeans } from './work-means.js';

/** The input of a pipeline while its runner lives: one that is pushed to has a door and an intake, run or no run. */
export class Entrance {
  #intake: Intake | undefined;
  #door: Door | undefined;

  /** @param place the input and its node; absent where there is none */
  constructor(
    private readonly definition: PipelineDefinition,
    readonly place: { readonly nodeId: string; readonly input: Input } | undefined,
    private readonly bus: Bus,
    private readonly means: WorkMeans,
  ) {}

  /** Of a pushed input: its buffer on the bus. */
  get stream(): string | undefined {
    return this.place?.input.kind === 'push' ? `${this.definition.id}.${this.place.nodeId}` : undefined;
  }

  /** Of a pushed input, once it was opened. */
  get door(): Door | undefined {
    return this.#door;
  }

  /** Opens the door of a pushed input; resolves after the first try. */
  async open(): Promise<void> {
    const { bus, definition, means, stream } = this;
    if (!this.place || stream === undefined) return;
    const { nodeId, input } = this.place;
    // An output that no way leads to takes nothing: what waited for it would fill the buffer for all.
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

  /** Takes records in, for an input that is pushed to. @throws BusError */
  append(lines: readonly string[], options?: AppendOptions): Promise<Appended> {
    return this.#intake?.append(lines, options) ?? Promise.resolve({ stored: false, reason: 'closed' });
  }

  /** Nothing more is taken in; resolves once all that was is answered. */
  async shut(): Promise<void> {
    await this.#closing(() => this.#door?.close());
    await this.#intake?.close();
  }

  /** Of one that is read, once nobody reads it any more; that of a pushed one is its door's. */
  async closeInput(): Promise<void> {
    const { input } = this.place ?? {};
    if (input?.kind === 'pages') await this.#closing(() => input.close?.());
  }

  /** What can not be closed must not keep the rest from ending. */
  async #closing(close: () => Promise<void> | undefined): Promise<void> {
    try {
      await close();
    } catch (error) {
      const { code } = failureOf(error);
      this.means.log({ level: 'warn', code: 'close_failed', message: `The input could not be closed (${code}).` });
    }
  }
}
