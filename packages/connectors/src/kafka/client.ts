import { setTimeout as timeout } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import type { Kafka, SASLOptions } from 'kafkajs';
import { ConnectorError, type Egress, EgressError, secure } from '@connector-frame/engine/connector-api';
import { kafkaError, fromEgressReason } from './connector-error.js';
import { GuardedSocket } from './guarded-socket.js';
import { loadKafkajs } from './load-kafkajs.js';

/** A cluster's addresses and credentials. */
export interface KafkaTarget {
  /** `host:port`. */
  brokers: string[];
  /** Absent: plaintext connections. */
  tls?: ConnectionOptions;
  /** Absent: no authentication. */
  sasl?: SASLOptions;
  /**
   * Obtains what signing in needs, before a connection is opened.
   * @throws ConnectorError
   */
  prepare?(signal: AbortSignal): Promise<void>;
}

export interface KafkaLimits {
  /** Timeout of one request, in milliseconds. */
  requestTimeout: number;
  /** Number of retries by the client itself, before the engine retries. */
  retries: number;
}

const CONNECT_MS = 10_000;
/** Time limit for a graceful close, in milliseconds. */
const CLOSE_MS = 3_000;

/**
 * A client of one cluster. All connections go through the egress guard, including those to the
 * addresses that brokers advertise.
 */
export class KafkaClient {
  readonly kafka: Kafka;
  readonly #sockets = new Set<GuardedSocket>();
  readonly #closing = new AbortController();
  #failure: EgressError | undefined;

  constructor({ brokers, tls, sasl }: KafkaTarget, egress: Egress, { requestTimeout, retries }: KafkaLimits) {
    const open = async (host: string, port: number): Promise<Awaited<ReturnType<Egress['connect']>>> => {
      const { signal } = this.#closing;
      const socket = await egress.connect({ host, port, signal, timeoutMs: CONNECT_MS });
      return tls ? secure(socket, host, signal, tls) : socket;
    };
    const { Kafka, logLevel } = loadKafkajs();
    this.kafka = new Kafka({
      clientId: 'connector-frame',
      brokers,
      ...(sasl && { sasl }),
      connectionTimeout: CONNECT_MS,
      authenticationTimeout: CONNECT_MS,
      requestTimeout,
      // The engine retries with backoff; the client only retries enough to follow a moved
      // partition.
      retry: { retries, initialRetryTime: 100, maxRetryTime: 1_000, restartOnFailure: () => Promise.resolve(false) },
      logLevel: logLevel.NOTHING,
      logCreator: () => () => undefined,
      socketFactory: ({ host, port, onConnect }) => {
        const socket = new GuardedSocket(open(host, port), onConnect);
        this.#sockets.add(socket);
        socket.on('error', (error) => {
          this.#failure = error instanceof EgressError ? error : new EgressError('connect_failed', 'connection broken');
        });
        socket.once('close', () => this.#sockets.delete(socket));
        return socket;
      },
    });
  }

  /** Converts any error to a `ConnectorError` whose message quotes nothing from the broker. */
  explain(error: unknown): ConnectorError {
    const known = kafkaError(error);
    if (known) return known;
    const ofClient = error instanceof Error && error.name.startsWith('KafkaJS');
    if (!ofClient) return new ConnectorError('unexpected', 'Unexpected error while connecting to Kafka.', 'retry');
    return fromEgressReason(this.#failure?.reason ?? 'connect_failed');
  }

  /** Runs `steps` for at most `CLOSE_MS` milliseconds, then destroys every connection. */
  async close(...steps: readonly (() => Promise<unknown>)[]): Promise<void> {
    const graceful = Promise.allSettled(steps.map((step) => step()));
    const timer = new AbortController();
    await Promise.race([graceful, timeout(CLOSE_MS, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
    this.destroy();
  }

  /** Destroys every connection immediately. */
  destroy(): void {
    this.#closing.abort();
    // An error is required: the client does not react to a close alone and would keep processing
    // its request queue.
    for (const socket of this.#sockets) socket.destroy(new Error('hung up'));
  }
}
