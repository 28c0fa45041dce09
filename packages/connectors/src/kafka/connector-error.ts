import { ConnectorError, type EgressReason, type FailureKind } from '@connector-frame/engine/connector-api';
import { at } from '../_shared/read.js';

type Words = readonly [code: string, message: string, kind: FailureKind];

/** Results shared by several protocol errors. */
const noTopic: Words = ['not_found', 'Kafka has no topic by this name.', 'permanent'];
const wrongPassword: Words = ['invalid_credentials', 'Kafka did not accept the user name and password.', 'permanent'];
const noWayToSignIn: Words = ['invalid_credentials', 'Kafka does not offer this way to sign in.', 'permanent'];
const fewInSync: Words = ['upstream_error', 'Too few brokers of Kafka are in sync.', 'retry'];
const late: Words = ['timeout', 'Kafka did not answer in time.', 'retry'];

const ways: Readonly<Record<EgressReason, readonly [message: string, kind: FailureKind]>> = {
  egress_refused: ['A Kafka broker is on a network that is closed to connectors.', 'permanent'],
  invalid_address: ['The address of a Kafka broker is not one we can connect to.', 'permanent'],
  invalid_header: ['The address of a Kafka broker is not one we can connect to.', 'permanent'],
  dns_failed: ['There is no server by the name of a Kafka broker.', 'retry'],
  connect_failed: ['Kafka could not be reached, or the connection broke.', 'retry'],
  timeout: ['Kafka did not answer in time.', 'retry'],
  tls_failed: ['No secure connection to Kafka: its certificate is not trusted, or it has none.', 'permanent'],
  redirected: ['What answers is not Kafka.', 'permanent'],
  too_large: ['The answer of Kafka is larger than we take.', 'retry'],
  invalid_answer: ['What answers is not Kafka.', 'permanent'],
};

/**
 * By the error's name in the protocol. https://kafka.apache.org/protocol.html#protocol_error_codes
 */
const types: Readonly<Record<string, Words>> = {
  UNKNOWN_TOPIC_OR_PARTITION: noTopic,
  INVALID_TOPIC_EXCEPTION: noTopic,
  TOPIC_AUTHORIZATION_FAILED: ['forbidden', 'This user may not use the topic.', 'permanent'],
  GROUP_AUTHORIZATION_FAILED: ['forbidden', 'This user may not use the consumer group.', 'permanent'],
  CLUSTER_AUTHORIZATION_FAILED: ['forbidden', 'This user may not do that on the cluster.', 'permanent'],
  SASL_AUTHENTICATION_FAILED: wrongPassword,
  UNSUPPORTED_SASL_MECHANISM: noWayToSignIn,
  ILLEGAL_SASL_STATE: noWayToSignIn,
  INCONSISTENT_GROUP_PROTOCOL: [
    'rejected',
    'Other members of the consumer group share its partitions in another way. Use a group of its own.',
    'permanent',
  ],
  INVALID_SESSION_TIMEOUT: ['rejected', 'Kafka does not allow this session timeout.', 'permanent'],
  UNSUPPORTED_COMPRESSION_TYPE: ['rejected', 'Kafka does not take this compression.', 'permanent'],
  INVALID_REQUIRED_ACKS: ['rejected', 'Kafka does not take this number of acknowledgements.', 'permanent'],
  THROTTLING_QUOTA_EXCEEDED: ['rate_limited', 'Kafka is throttling requests.', 'throttled'],
  NOT_ENOUGH_REPLICAS: fewInSync,
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: fewInSync,
  REQUEST_TIMED_OUT: late,
  KAFKA_STORAGE_ERROR: ['upstream_error', 'A broker of Kafka has trouble with its disk.', 'retry'],
};

const names: Readonly<Record<string, Words>> = {
  KafkaJSSASLAuthenticationError: wrongPassword,
  KafkaJSServerDoesNotSupportApiKey: ['rejected', 'This version of Kafka is too old.', 'permanent'],
  KafkaJSNotImplemented: [
    'unsupported_compression',
    'Messages are compressed with Zstandard, which needs Node.js 22.15 or later here.',
    'permanent',
  ],
  KafkaJSUnsupportedMagicByteInMessageSet: [
    'rejected',
    'Messages are in a format that is not known here.',
    'permanent',
  ],
  KafkaJSGroupCoordinatorNotFound: [
    'upstream_error',
    'Kafka has no coordinator for the consumer group: it may be starting, or this user may not use the group.',
    'retry',
  ],
  KafkaJSRequestTimeoutError: late,
};

export const viaEgress = (reason: EgressReason): ConnectorError => {
  const [message, kind] = ways[reason];
  return new ConnectorError(reason, message, kind);
};

/** Returns the protocol's name of an error, from the error itself or from one of its causes. */
export function typeOfError(error: unknown): string | undefined {
  return chain(error).flatMap((each) => {
    const type = at(each, 'type');
    return typeof type === 'string' ? [type] : [];
  })[0];
}

/**
 * Converts an error of the client to an `ConnectorError`.
 *
 * @returns `undefined` for a connection error or an unknown one
 */
export function kafkaError(error: unknown): ConnectorError | undefined {
  if (error instanceof ConnectorError) return error;
  const type = typeOfError(error);
  const name = chain(error)
    .map((each) => names[String(at(each, 'name'))])
    .find((each) => each !== undefined);
  const words = (type === undefined ? undefined : types[type]) ?? name;
  if (words) return new ConnectorError(words[0], words[1], words[2]);
  if (type !== undefined) return new ConnectorError('upstream_error', 'Kafka could not do this just now.', 'retry');
  return undefined;
}

/** Whether an error or one of its causes has this name or this protocol error type. */
export const isError = (error: unknown, word: string): boolean =>
  chain(error).some((each) => at(each, 'name') === word || at(each, 'type') === word);

/** Returns an error and its causes, at most five in total. */
function chain(error: unknown): unknown[] {
  const errors: unknown[] = [];
  for (let each = error; each instanceof Error && errors.length < 5; each = each.cause) errors.push(each);
  return errors;
}
