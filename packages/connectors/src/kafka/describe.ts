import type { ConnectorError, EgressReason } from '@connector-frame/engine/connector-api';
import { unreachable } from '../_shared/connection-test/failures.js';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';

const ADDRESS = '/settings/bootstrap_servers';

/** Pointers to the fields that an outcome may name. */
export interface TestedFields {
  user: string;
  topics: string;
  group?: string;
  /** The field that enables TLS. */
  security: string;
}

const onTheWay: readonly string[] = [
  'egress_refused',
  'dns_failed',
  'connect_failed',
  'timeout',
  'tls_failed',
  'invalid_answer',
] satisfies EgressReason[];

const isOnTheWay = (code: string): code is EgressReason => onTheWay.includes(code);

/** Converts an `ConnectorError` to an outcome for the person who fills in the form. */
export function describeFailure({ code, message }: ConnectorError, fields: TestedFields): Failure {
  if (code === 'connect_failed') {
    return failed('connect_failed', 'Kafka could not be reached, or it closed the connection.', {
      hint: 'Check the addresses and ports, that a firewall lets us in, and whether the listener wants TLS or a sign-in.',
      at: [ADDRESS, fields.security],
    });
  }
  if (isOnTheWay(code)) return unreachable(code, { product: 'Kafka', address: ADDRESS });
  switch (code) {
    case 'invalid_credentials':
      return failed('invalid_credentials', message, { at: [fields.user, '/secrets/password'] });
    case 'forbidden':
      return failed('forbidden', message, {
        hint: 'Grant this user what it needs on the topics and on the consumer group.',
        at: message.includes('group') ? fields.group : fields.topics,
      });
    case 'not_found':
      return failed('not_found', message, {
        hint: 'Check the name, and that this user may see the topic.',
        at: fields.topics,
      });
    case 'rate_limited':
      return failed('rate_limited', message, { hint: 'Try again in a minute.' });
    case 'upstream_error':
      return failed('upstream_error', message, { hint: 'Try again in a minute.' });
    default:
      return failed('rejected', message);
  }
}
