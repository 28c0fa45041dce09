import { loadCatalog, type ConnectorConfig } from '@connector-frame/catalog';
import { connectors } from '../../packages/connectors/src/index.js';
import { createEgress, EgressError, type Egress } from '../../packages/engine/src/egress/index.js';
import type { DataRecord, JsonValue } from '../../packages/engine/src/connector-api/record.js';
import type { Clock } from '../../packages/engine/src/connector-api/clock.js';
import { ConnectorError, type PageInput } from '../../packages/engine/src/connector-api/index.js';
import { startVendor, type Reply, type Vendor } from './vendor.js';
import type { PollVendor, VendorEvent, VendorRequest } from './vendors/poll-vendor.js';

export const START = Date.UTC(2026, 2, 10, 12);
const ASKED = 'x-asked-origin';

/** A clock that advances only when the test sets it or something sleeps. */
export class TestClock implements Clock {
  ms = START;
  now = (): number => this.ms;
  sleep = (ms: number): Promise<void> => {
    this.ms += ms;
    return Promise.resolve();
  };
}

/** Creates an egress that connects a vendor's origins to a local server and rejects all others. */
export function leadTo(server: string, origins: readonly string[], elsewhere: (origin: string) => void): Egress {
  const real = createEgress({ allow: ['127.0.0.0/8'], timeoutMs: 5_000 });
  return {
    ...real,
    fetch: (address, init = {}) => {
      const url = new URL(address);
      if (!origins.includes(url.origin)) {
        elsewhere(url.origin);
        return Promise.reject(new EgressError('dns_failed', 'another site'));
      }
      const headers = new Headers(init.headers);
      headers.set(ASKED, url.origin);
      return real.fetch(server + url.pathname + url.search, { ...init, headers });
    },
  };
}

/** A vendor's local server, its log, and an egress that connects the vendor's origins to it. */
export class PollWorld {
  readonly clock = new TestClock();
  /** Milliseconds by which our clock is ahead of the vendor's. */
  skew = 0;
  readonly events: VendorEvent[] = [];
  readonly elsewhere: string[] = [];
  readonly requests: VendorRequest[] = [];
  /**
   * Responses to the next requests, in place of the vendor's; a function modifies the vendor's own
   * response.
   */
  readonly queued: (Reply | ((own: Reply) => Reply))[] = [];
  revoke: () => void = () => undefined;
  egress: Egress;

  private constructor(
    readonly vendor: PollVendor,
    private readonly server: Vendor,
  ) {
    this.egress = leadTo(server.origin, vendor.origins, (origin) => this.elsewhere.push(origin));
  }

  static async open(vendor: PollVendor, pageSize = 3): Promise<PollWorld> {
    let world: PollWorld | undefined;
    let respond: (request: VendorRequest) => Reply = () => ({ status: 503 });
    const server = await startVendor(({ method, url, headers, body }) => {
      const { pathname, searchParams } = new URL(url, 'http://vendor');
      const { [ASKED]: origin, ...sent } = headers;
      const request = { method, origin: String(origin), path: pathname, query: searchParams, headers: sent, body };
      world?.requests.push(request);
      const queued = world?.queued.shift() ?? respond(request);
      const reply = typeof queued === 'function' ? queued(respond(request)) : queued;
      return { ...reply, headers: { date: new Date(world?.vendorNow() ?? 0).toUTCString(), ...reply.headers } };
    });
    const made = new PollWorld(vendor, server);
    world = made;
    const opened = vendor.open({
      now: () => made.vendorNow(),
      get events() {
        return made.events.filter(
          ({ at, written }) => Math.max(at + (vendor.delayMs ?? 0), written) <= made.vendorNow(),
        );
      },
      pageSize,
    });
    respond = opened.respond.bind(opened);
    made.revoke = opened.revoke ?? (() => undefined);
    return made;
  }

  close = (): Promise<void> => this.server.close();
  vendorNow = (): number => this.clock.now() - this.skew;
  advance = (ms: number): void => void (this.clock.ms += ms);

  /**
   * Adds an event that happened `ago` milliseconds before now, truncated to seconds. It appears in
   * the log at once or, if `late`, only now. Returns its number.
   */
  happen(ago = 0, late = false): number {
    const n = this.events.length + 1;
    const at = Math.floor((this.vendorNow() - ago) / 1_000) * 1_000;
    this.events.push({ n, at, written: late ? this.vendorNow() : at });
    return n;
  }

  get numbers(): number[] {
    return this.events.map(({ n }) => n);
  }
}

/** Drives an input as the runner does: reads a page, delivers it, commits its cursor. */
export class Driver {
  readonly delivered: DataRecord[] = [];
  #cursor: JsonValue | undefined;
  #input: PageInput;

  constructor(
    private readonly create: () => PageInput,
    private readonly numberOf: (record: DataRecord) => unknown = ({ n }) => n,
  ) {
    this.#input = create();
  }

  static of(world: PollWorld, config: ConnectorConfig = world.vendor.config): Driver {
    const { vendor, egress, clock } = world;
    const type = loadCatalog().get('input', vendor.type);
    return new Driver(() => {
      const input = type && connectors(type).createInput?.(config, { type, egress, clock });
      if (input?.kind !== 'pages') throw new Error(`${vendor.type} cannot be polled`);
      return input;
    }, vendor.numberOf);
  }

  /**
   * Reads until the input has no more pages for now, or until it has read `pages` pages.
   * @param isRequested whether a person asked for this read
   */
  async poll(pages = Number.POSITIVE_INFINITY, isRequested = false): Promise<void> {
    if (pages === 0) return;
    let read = 0;
    for await (const page of this.#input.pages(this.#cursor, new AbortController().signal, isRequested)) {
      this.delivered.push(...page.records);
      this.#cursor = JSON.parse(JSON.stringify(page.cursor));
      read += 1;
      if (read === pages) return;
    }
  }

  async fails(isRequested = false): Promise<ConnectorError> {
    try {
      await this.poll(undefined, isRequested);
    } catch (error) {
      if (error instanceof ConnectorError) return error;
      throw error;
    }
    throw new Error('It did not fail.');
  }

  /** Simulates a process restart: creates a new input and keeps the committed cursor. */
  restart(): void {
    this.#input = this.create();
  }

  get cursor(): string {
    return JSON.stringify(this.#cursor);
  }

  get numbers(): unknown[] {
    return this.delivered.map((record) => this.numberOf(record)).sort((a, b) => Number(a) - Number(b));
  }
}
