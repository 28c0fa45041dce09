import { isRecord } from '@connector-frame/engine/connector-api';
import { ApiError } from '../api/api-error.js';
import { failed } from '../connection-test/outcome.js';
import { at, text } from '../read.js';
import type { AwsJsonApi } from './json-api.js';

export interface QueueMessage {
  id: string;
  handle: string;
  body: string;
  /** How often it was received, including this time. */
  times: number;
}

/** Maximum messages of a request. */
export const MAX_MESSAGES = 10;
/** Seconds that a request waits for a message. */
const WAIT_S = 10;

/**
 * A queue of Amazon SQS.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/Welcome.html
 */
export class Queue {
  readonly #api: AwsJsonApi;
  readonly #where: { url: string } | { name: string };
  #url: string | undefined;

  constructor(api: AwsJsonApi, where: { url: string } | { name: string }) {
    this.#api = api;
    this.#where = where;
    if ('url' in where) this.#url = where.url;
  }

  /**
   * Receives some messages, which are then hidden from others. Empty if there are none for some seconds.
   * @throws ApiError
   */
  async receive(visibility: number, signal: AbortSignal): Promise<QueueMessage[]> {
    const answer = await this.#call(
      'ReceiveMessage',
      {
        MaxNumberOfMessages: MAX_MESSAGES,
        WaitTimeSeconds: WAIT_S,
        VisibilityTimeout: visibility,
        // Both names: the second one is not known to older servers.
        AttributeNames: ['ApproximateReceiveCount'],
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      },
      signal,
    );
    const messages = at(answer, 'Messages');
    return (Array.isArray(messages) ? messages : []).flatMap((message): QueueMessage[] => {
      if (!isRecord(message)) return [];
      const { MessageId: id, ReceiptHandle: handle, Body: body } = message;
      if (typeof id !== 'string' || typeof handle !== 'string' || typeof body !== 'string') return [];
      return [{ id, handle, body, times: Number(text(message, 'Attributes', 'ApproximateReceiveCount') ?? 1) }];
    });
  }

  /**
   * Deletes messages. One that can't be deleted is received again.
   * @throws ApiError
   */
  async delete(handles: readonly string[], signal: AbortSignal): Promise<void> {
    if (handles.length === 0) return;
    await this.#call('DeleteMessageBatch', { Entries: entriesOf(handles) }, signal);
  }

  /** @throws ApiError */
  async hide(handles: readonly string[], seconds: number, signal: AbortSignal): Promise<void> {
    if (handles.length === 0) return;
    const Entries = entriesOf(handles).map((entry) => ({ ...entry, VisibilityTimeout: seconds }));
    await this.#call('ChangeMessageVisibilityBatch', { Entries }, signal);
  }

  /**
   * Returns the number of messages, or `undefined` if the number may not be read but messages may be
   * deleted. Receives and deletes none.
   * @throws ApiError
   */
  async check(signal: AbortSignal): Promise<number | undefined> {
    try {
      const answer = await this.#call(
        'GetQueueAttributes',
        { AttributeNames: ['ApproximateNumberOfMessages'] },
        signal,
      );
      return Number(text(answer, 'Attributes', 'ApproximateNumberOfMessages') ?? 0);
    } catch (error) {
      if (!(error instanceof ApiError) || error.outcome.reason !== 'forbidden') throw error;
      // Permissions are checked before the handle, which is none.
      await this.#call('DeleteMessage', { ReceiptHandle: 'connection-test' }, signal).catch((reason: unknown) => {
        if (!(reason instanceof ApiError) || reason.outcome.reason !== 'rejected') throw reason;
      });
      return undefined;
    }
  }

  async #call(action: string, body: object, signal: AbortSignal): Promise<unknown> {
    this.#url ??= await this.#findUrl(signal);
    return this.#api.call(action, { QueueUrl: this.#url, ...body }, { signal });
  }

  async #findUrl(signal: AbortSignal): Promise<string> {
    const QueueName = 'name' in this.#where ? this.#where.name : '';
    return text(await this.#api.call('GetQueueUrl', { QueueName }, { signal }), 'QueueUrl') ?? '';
  }
}

const entriesOf = (handles: readonly string[]) =>
  handles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }));

/** Failures of SQS by code. */
export const queueFailures = (field: string) =>
  new Map([
    ...['QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue', 'InvalidAddress'].map(
      (code) => [code, () => failed('not_found', 'There is no such queue.', { at: field })] as const,
    ),
    ...['ReceiptHandleIsInvalid', 'InvalidParameterValue'].map(
      (code) => [code, () => failed('rejected', 'AWS refused the request.')] as const,
    ),
  ]);
