import type { Clock, DataRecord, Egress, JsonValue, TesterConfig } from '@connector-frame/engine/connector-api';
import { createApiClient, type ApiClient } from '../_shared/api/api-client.js';
import { toConnectorError } from '../_shared/api/api-error.js';
import { toFields, withMetadata } from '../_shared/broker/message.js';
import { unexpected } from '../_shared/connection-test/failures.js';
import { failed, missing, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text } from '../_shared/read.js';
import { serviceAccount } from '../google/service-account.js';

const ORIGIN = 'https://pubsub.googleapis.com';
const KEY = '/secrets/credentials';
const SUBSCRIPTION = '/settings/subject_id';
/** Messages of one request. Their acknowledgment ids, of about 200 characters each, are kept in the cursor. */
const MAX_MESSAGES = 500;
const MAX_RESPONSE = 64 * 1024 * 1024;
/** Milliseconds: without messages, the service keeps a pull request open for a while. */
const PULL_MS = 120_000;

export interface Pulled {
  record: DataRecord;
  ackId: string;
}

/**
 * A pull subscription.
 * https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions
 */
export class Subscription {
  readonly #client: ApiClient;
  readonly #url: string;

  /** @throws ConnectorError `invalid_config`, permanent */
  constructor(config: TesterConfig, egress: Egress, clock: Clock) {
    const project = text(config.settings, 'project_id');
    const id = text(config.settings, 'subject_id');
    if (project === undefined) throw toConnectorError(missing('/settings/project_id', 'Enter the project ID.'));
    if (id === undefined) throw toConnectorError(missing(SUBSCRIPTION, 'Enter the subscription ID.'));
    this.#url = `${ORIGIN}/v1/projects/${encodeURIComponent(project)}/subscriptions/${encodeURIComponent(id)}`;
    this.#client = createApiClient(serviceAccount(KEY, ['https://www.googleapis.com/auth/pubsub']), config, {
      subject: { product: 'Google Cloud Pub/Sub', credential: KEY },
      egress,
      clock,
      base: new URL(ORIGIN),
    });
  }

  /** Returns messages, once there are some; empty if there are none for a while. */
  async pull(signal: AbortSignal): Promise<Pulled[]> {
    let isEmpty = false;
    const body = await this.#post('pull', { maxMessages: MAX_MESSAGES }, signal, (status) => {
      isEmpty = status === 504;
      return explain(status);
    }).catch((error: unknown) => {
      // No message arrived in time.
      if (!isEmpty) throw error;
      return {};
    });
    const received = at(body, 'receivedMessages') ?? [];
    if (!Array.isArray(received)) throw toConnectorError(unexpected(this.#client.subject));
    return received.map((each: unknown) => this.#read(each));
  }

  /** Removes messages from the subscription. */
  async acknowledge(ackIds: readonly string[], signal: AbortSignal): Promise<void> {
    if (ackIds.length > 0) await this.#post('acknowledge', { ackIds }, signal);
  }

  /** Keeps messages from being delivered again for this time. */
  async extend(ackIds: readonly string[], seconds: number, signal: AbortSignal): Promise<void> {
    await this.#post('modifyAckDeadline', { ackIds, ackDeadlineSeconds: seconds }, signal);
  }

  /** Returns whether the account may read the subscription. */
  async isReadable(signal: AbortSignal): Promise<boolean> {
    const permission = 'pubsub.subscriptions.consume';
    const body = await this.#post('testIamPermissions', { permissions: [permission] }, signal);
    const granted = at(body, 'permissions');
    return Array.isArray(granted) && granted.includes(permission);
  }

  #post(verb: string, body: object, signal: AbortSignal, meaning = explain): Promise<unknown> {
    const options = { signal, timeoutMs: PULL_MS, maxBytes: MAX_RESPONSE };
    return this.#client.json({ url: new URL(`${this.#url}:${verb}`), body }, options, meaning);
  }

  #read(received: unknown): Pulled {
    const ackId = text(received, 'ackId');
    const message = at(received, 'message');
    if (ackId === undefined || message === undefined) throw toConnectorError(unexpected(this.#client.subject));
    const metadata = (['attributes', 'messageId', 'publishTime', 'orderingKey'] as const).flatMap((name) => {
      const value = at(message, name);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- parsed JSON; attributes are an object
      return value === undefined || value === '' ? [] : [[NAMES[name], value as JsonValue] as const];
    });
    const payload = Buffer.from(text(message, 'data') ?? '', 'base64');
    return { ackId, record: withMetadata(toFields(payload), metadata) };
  }
}

const NAMES = {
  attributes: 'attributes',
  messageId: 'message_id',
  publishTime: 'publish_time',
  orderingKey: 'ordering_key',
};

function explain(status: number): Failure | undefined {
  if (status === 404) return failed('not_found', 'There is no such subscription.', { at: SUBSCRIPTION });
  if (status === 403)
    return failed('forbidden', 'The service account may not read the subscription.', {
      hint: 'It needs the role Pub/Sub Subscriber.',
      at: [KEY, SUBSCRIPTION],
    });
  return undefined;
}
