import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../free-port.js';
import { mainFile, mustStart, workerFile, type ServiceProcess } from '../service-process.js';
import { startRoundRobin, type RoundRobin } from './round-robin.js';

/** Replicas serve the API behind the proxy; workers (`connector-worker`) run the pipelines. */
export type Kind = 'replica' | 'worker';

/** One process of a topology, which keeps its port and its data folder over restarts. */
export interface Member {
  readonly name: string;
  readonly kind: Kind;
  /** Base URL of the process itself. */
  readonly url: string;
  /** Kills it with SIGKILL, and resolves once it has ended. */
  kill(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGTERM, and resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Sets its clock relative to the machine's. Only with `shiftsClocks`. */
  shift(milliseconds: number): Promise<void>;
}

/** Several processes of the service on one PostgreSQL, and a proxy in front of the replicas. */
export interface Topology {
  /** URL of the proxy. */
  readonly url: string;
  readonly members: readonly Member[];
  readonly proxy: RoundRobin;
  /** Environment of the replica that the test itself starts, with `ownReplica`. */
  readonly own: Readonly<Record<string, string>>;
  /** Kills what runs and deletes all folders. */
  close(): Promise<void>;
}

export interface TopologyOptions {
  databaseUrl: string;
  replicas?: number;
  workers?: number;
  /** Port of the proxy. Default: a free port. */
  port?: number;
  /** Whether the proxy has one more replica, which the test starts with the environment `own`. */
  ownReplica?: boolean;
  /** Whether the clocks of the processes can be shifted. */
  shiftsClocks?: boolean;
  /** Variables of every process. */
  environment?: Readonly<Record<string, string>>;
}

const SHIFT_CLOCK = fileURLToPath(new URL('../shift-clock.mjs', import.meta.url));

/** Starts the processes. If one does not start, ends all others. */
export async function startTopology(options: TopologyOptions): Promise<Topology> {
  const { databaseUrl, replicas = 2, workers = 2, ownReplica = false, environment = {} } = options;
  const port = options.port ?? (await freePort());
  const folder = await mkdtemp(join(tmpdir(), 'topology-'));
  // With the name that browsers treat as secure.
  const url = `http://localhost:${port}`;
  const shared = {
    ...environment,
    // Replicas run no pipelines. Workers ignore it.
    ENGINE: 'off',
    DATABASE_URL: databaseUrl,
    MASTER_KEY: environment['MASTER_KEY'] ?? randomBytes(32).toString('base64url'),
    PUBLIC_URL: url,
    TRUST_PROXY: '127.0.0.1/32',
    FILE_OUTPUT_DIR: environment['FILE_OUTPUT_DIR'] ?? join(folder, 'files'),
  };
  const members: RunningMember[] = [];
  const add = async (kind: Kind, index: number): Promise<number> => {
    const name = `${kind}-${index + 1}`;
    const own = await freePort();
    const variables = { ...shared, SERVICE_PORT: String(own), DATA_DIR: join(folder, name) };
    members.push(new RunningMember(name, kind, variables, options.shiftsClocks === true));
    return own;
  };
  const ports: number[] = [];
  if (ownReplica) ports.push(await freePort());
  for (let index = 0; index < replicas; index += 1) ports.push(await add('replica', index));
  for (let index = 0; index < workers; index += 1) await add('worker', index);
  let proxy: RoundRobin | undefined;
  const close = async (): Promise<void> => {
    await Promise.all(members.map((member) => member.kill()));
    await proxy?.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    proxy = await startRoundRobin(port, ports);
    const starts = await Promise.allSettled(members.map((member) => member.start()));
    for (const each of starts) if (each.status === 'rejected') throw each.reason;
    await proxy.ready(replicas);
  } catch (error) {
    await close();
    throw error;
  }
  return { url, members, proxy, own: { ...shared, SERVICE_PORT: String(ports[0]) }, close };
}

class RunningMember implements Member {
  readonly name: string;
  readonly kind: Kind;
  readonly #variables: Record<string, string>;
  readonly #shiftsClock: boolean;
  #process: ServiceProcess | undefined;

  constructor(name: string, kind: Kind, variables: Record<string, string>, shiftsClock: boolean) {
    this.name = name;
    this.kind = kind;
    this.#variables = variables;
    this.#shiftsClock = shiftsClock;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#variables['SERVICE_PORT']}`;
  }

  async start(): Promise<void> {
    const file = this.kind === 'worker' ? workerFile() : mainFile();
    if (!this.#shiftsClock) {
      this.#process = await mustStart(this.#variables, [process.execPath, file]);
      return;
    }
    const CLOCK_SHIFT_FILE = `${this.#variables['DATA_DIR']}.shift`;
    if (!existsSync(CLOCK_SHIFT_FILE)) await writeFile(CLOCK_SHIFT_FILE, '0');
    const command = [process.execPath, '--import', SHIFT_CLOCK, file];
    this.#process = await mustStart({ ...this.#variables, CLOCK_SHIFT_FILE }, command);
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await this.#process?.exited;
    this.#process = undefined;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  async stop(): Promise<number | null> {
    this.#process?.kill('SIGTERM');
    const code = (await this.#process?.exited) ?? null;
    this.#process = undefined;
    return code;
  }

  async shift(milliseconds: number): Promise<void> {
    await writeFile(`${this.#variables['DATA_DIR']}.shift`, String(milliseconds));
    this.signal('SIGUSR2');
  }
}
