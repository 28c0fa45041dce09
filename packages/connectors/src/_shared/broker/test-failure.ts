import type { ConnectorError, EgressReason, TestFailureReason } from '@connector-frame/engine/connector-api';
import { unreachable, type Subject } from '../connection-test/failures.js';
import { failed, type Failure } from '../connection-test/outcome.js';

/** Pointers to the fields that an outcome may name. */
export interface BrokerFields extends Subject {
  address: string;
  user: string;
  password: string;
  /** The topic, subject, queue or key. */
  name: string;
}

const network: readonly string[] = [
  'egress_refused',
  'dns_failed',
  'connect_failed',
  'timeout',
  'tls_failed',
] satisfies EgressReason[];

const isNetwork = (code: string): code is EgressReason => network.includes(code);

const reasons: readonly TestFailureReason[] = ['not_found', 'rejected', 'upstream_error', 'unexpected_answer'];

/** Converts an error of a broker to an outcome for the person who fills in the form. */
export function failureOf({ code, message }: ConnectorError, fields: BrokerFields): Failure {
  if (isNetwork(code)) return unreachable(code, fields);
  if (code === 'invalid_credentials') return failed(code, message, { at: [fields.user, fields.password] });
  if (code === 'forbidden') return failed(code, message, { at: [fields.user, fields.name] });
  if (code === 'invalid_config') return failed(code, message);
  const reason = reasons.find((known) => known === code) ?? 'upstream_error';
  return failed(reason, message, reason === 'upstream_error' ? { hint: 'Try again later.' } : { at: fields.name });
}
