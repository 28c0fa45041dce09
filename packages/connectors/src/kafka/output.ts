import type { ConnectorConfig } from '@connector-frame/catalog/types';
import type { Producer } from 'kafkajs';
import {
  type Batch,
  type Batching,
  type ConnectorContext,
  ConnectorError,
  type Egress,
  type Output,
  type Rejection,
} from '@connector-frame/engine/connector-api';
import { KafkaClient, type KafkaTarget } from './client.js';
import { isError, typeOfError } from './connector-error.js';
import { readOutputSettings, type OutputSettings } from './config.js';
import { Partitioner } from './partitioner.js';
import { readOutputTarget } from './config.js';
import { split, toMessages, type RecordMessage } from './messages.js';

const REQUEST_MS = 30_000;
/**
 * Limits of one produce request. Brokers accept 1 MiB per partition by default
 * (`message.max.bytes`), and all of it may go to one partition.
 */
const BATCHING: Batching = { records: 2_000, bytes: 900_000, waitMs: 100, waitFrom: 'write' };

/** Rejection reasons by protocol error, for errors caused by the messages themselves. */
const reasons: Readonly<Record<string, string>> = {
  MESSAGE_TOO_LARGE: 'too_large',
  RECORD_LIST_TOO_LARGE: 'too_large',
  INVALID_RECORD: 'invalid_value',
};
/**
 * Errors that rule out an idempotent producer: brokers before 2.8 require a cluster permission for
 * it, others do not support it or name no controller to ask.
 */
const notIdempotent = ['CLUSTER_AUTHORIZATION_FAILED', 'UNSUPPORTED_VERSION', 'KafkaJSBrokerNotFound'];

/** Creates an output that publishes records to a topic. */
export function createKafkaOutput(config: ConnectorConfig, { egress }: ConnectorContext): Output {
  const target = readOutputTarget(config);
  if ('ok' in target) throw new ConnectorError('invalid_config', target.message, 'permanent');
  const settings = readOutputSettings(config.settings);
  const writer = new TopicWriter(target, settings, egress);
  return {
    // In order, because an idempotent producer allows one request per broker at a time.
    batching: BATCHING,
    open: (signal) => writer.guarded(signal, async () => void (await writer.producer())),
    write: (batch, signal) =>
      writer.guarded(signal, async () => {
        const rejected = await writer.write(batch);
        return rejected.length === 0 ? {} : { rejected };
      }),
    close: () => writer.close(),
  };
}

/**
 * Owns a producer, created on first use. Any failure discards it, because its sequence numbers may
 * no longer match the broker's (decision 013).
 */
class TopicWriter {
  readonly #partitioner = new Partitioner();
  #client: KafkaClient | undefined;
  #producer: Producer | undefined;
  #idempotent: boolean;
  readonly #target: KafkaTarget;
  readonly #settings: OutputSettings;
  readonly #egress: Egress;

  constructor(target: KafkaTarget, settings: OutputSettings, egress: Egress) {
    this.#target = target;
    this.#settings = settings;
    this.#egress = egress;
    this.#idempotent = settings.acks === -1;
  }

  /** @throws ConnectorError */
  async guarded<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const done = new AbortController();
    // Don't wait for the client after an abort: it may still be in one of its own retries.
    const stopped = new Promise<never>((_resolve, reject) => {
      const stop = (): void => {
        this.#client?.destroy();
        reject(new ConnectorError('stopped', 'The write was canceled.'));
      };
      signal.addEventListener('abort', stop, { once: true, signal: done.signal });
    });
    try {
      return await Promise.race([work(), stopped]);
    } catch (error) {
      const explained = this.#client?.explain(error) ?? new ConnectorError('unexpected', 'Kafka could not be used.');
      await this.close();
      throw explained;
    } finally {
      done.abort();
    }
  }

  async producer(): Promise<Producer> {
    if (this.#producer) return this.#producer;
    try {
      return await this.#connect();
    } catch (error) {
      if (!this.#idempotent || !notIdempotent.some((each) => isError(error, each))) throw error;
      this.#idempotent = false;
      await this.close();
      return this.#connect();
    }
  }

  async #connect(): Promise<Producer> {
    const { retries, topic } = this.#settings;
    const idempotent = this.#idempotent;
    const limits = { requestTimeout: REQUEST_MS, retries: idempotent ? Math.max(retries, 1) : retries };
    this.#client = new KafkaClient(this.#target, this.#egress, limits);
    const admin = this.#client.kafka.admin();
    await admin.connect();
    await admin.fetchTopicMetadata({ topics: [topic] });
    await admin.disconnect();
    const producer = this.#client.kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: this.#partitioner.create,
      idempotent,
      maxInFlightRequests: 1,
    });
    await producer.connect();
    this.#producer = producer;
    return producer;
  }

  /**
   * Writes a batch.
   *
   * @returns the records that the broker rejects permanently
   * @throws errors of the client
   */
  async write(batch: Batch): Promise<Rejection[]> {
    // Use a record id: unlike the batch id, it does not change when the batch is split.
    this.#partitioner.begin(batch.recordId(0));
    const messages = toMessages(batch, this.#settings.messages);
    const failure = await this.#send(messages);
    if (failure === undefined) return [];
    // This resends to partitions that accepted their messages: the client does not report which
    // ones did.
    const parts = new Map<number, RecordMessage[]>();
    for (const each of messages) {
      const partition = this.#partitioner.of(each.message) ?? 0;
      parts.set(partition, [...(parts.get(partition) ?? []), each]);
    }
    const rejected: Rejection[] = [];
    for (const part of parts.values()) rejected.push(...(await this.#halve(part, batch)));
    return rejected;
  }

  async #halve(messages: readonly RecordMessage[], batch: Batch): Promise<Rejection[]> {
    const reason = await this.#send(messages);
    if (reason === undefined) return [];
    const halves = split(messages, batch, this.#settings.messages);
    if (!halves) return messages.flatMap(({ indexes }) => indexes.map((index) => ({ index, reason })));
    return [...(await this.#halve(halves[0], batch)), ...(await this.#halve(halves[1], batch))];
  }

  /**
   * Returns the reason why the broker rejected the messages, or `undefined` if it accepted them.
   */
  async #send(messages: readonly RecordMessage[]): Promise<string | undefined> {
    const { topic, acks, compression } = this.#settings;
    const producer = await this.producer();
    try {
      await producer.send({
        topic,
        acks,
        compression,
        timeout: REQUEST_MS,
        messages: messages.map(({ message }) => message),
      });
      return undefined;
    } catch (error) {
      const reason = reasons[typeOfError(error) ?? ''];
      if (reason === undefined) throw error;
      await this.close();
      return reason;
    }
  }

  async close(): Promise<void> {
    const [client, producer] = [this.#client, this.#producer];
    this.#client = undefined;
    this.#producer = undefined;
    await client?.close(async () => producer?.disconnect());
  }
}
