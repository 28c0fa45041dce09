import type { AwsRoles, Clock, Egress, TesterConfig } from '@connector-frame/engine/connector-api';
import type { PollAwsSignature } from '@connector-frame/catalog/types';
import { ApiClient, type ApiOptions } from '../api/api-client.js';
import { toConnectorError, type ApiError } from '../api/api-error.js';
import { statusFailure, type Subject } from '../connection-test/failures.js';
import { failed, type Failure } from '../connection-test/outcome.js';
import { awsAuthentication } from '../poll/authentication/aws-signature.js';
import { text } from '../read.js';
import type { AwsEndpoint } from './endpoint.js';
import { failureOfAwsCode, type AwsFields } from './failures.js';

export interface AwsJsonApiOptions {
  /** How requests are signed, and the name of the service in it. */
  signature: Omit<PollAwsSignature, 'kind'>;
  config: TesterConfig;
  /** Address of the service: its origin. */
  url: URL;
  /** Before the name of an action in `X-Amz-Target`: `AmazonSQS`. */
  target: string;
  version: '1.0' | '1.1';
  subject: Subject;
  egress: Egress;
  clock: Clock;
  roles: AwsRoles | undefined;
  /** For STS. */
  endpoint: AwsEndpoint;
  /** Failures by error code, besides those that all services share. */
  failures?: ReadonlyMap<string, () => Failure>;
  /** What is needed, for errors that say that a permission is missing. */
  rights: string;
}

const THROTTLED = new Set([
  'ThrottlingException',
  'Throttling',
  'RequestThrottled',
  'RequestLimitExceeded',
  'TooManyRequestsException',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'ServiceUnavailableException',
]);
const DENIED = /^(?:AccessDenied(?:Exception)?|NotAuthorized\w*|KmsAccessDenied|OptInRequired)$/;
const TIMEOUT_MS = 30_000;

/**
 * A service of AWS with the JSON protocol.
 * https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
 */
export class AwsJsonApi {
  readonly subject: Subject;
  readonly #client: ApiClient;
  readonly #options: AwsJsonApiOptions;

  /** @throws PollError `invalid_config` */
  constructor(options: AwsJsonApiOptions) {
    this.#options = options;
    const { subject, egress, clock, config, url, roles, signature, endpoint } = options;
    this.subject = subject;
    const authentication = awsAuthentication(
      { kind: 'aws_sigv4', ...signature },
      {
        config,
        subject,
        base: url,
        egress,
        roles,
        now: () => clock.now(),
        vendorNow: () => Date.now(),
        requester: () => Promise.reject(toConnectorError(statusFailure(401, subject))),
        refused: () => {
          throw toConnectorError(statusFailure(401, subject));
        },
      },
      endpoint,
    );
    this.#client = new ApiClient({ subject, egress, clock, authentication });
  }

  /**
   * Calls an action.
   * @throws ApiError
   */
  call(action: string, body: object, options: ApiOptions): Promise<unknown> {
    const { url, target, version } = this.#options;
    return this.#client.json(
      {
        url,
        body,
        headers: { 'content-type': `application/x-amz-json-${version}`, 'x-amz-target': `${target}.${action}` },
      },
      { timeoutMs: TIMEOUT_MS, ...options },
      (_status, answer) => this.#failureOf(codeOf(answer)),
    );
  }

  #failureOf(code: string | undefined): Failure | undefined {
    const { subject, failures, signature, rights } = this.#options;
    if (code === undefined) return undefined;
    const fields: AwsFields = {
      accessKey: signature.access_key_id,
      secretKey: signature.secret_access_key,
      role: signature.role_arn,
    };
    if (THROTTLED.has(code)) return statusFailure(429, subject);
    if (DENIED.test(code))
      return failed('forbidden', 'Permissions are missing at AWS.', {
        hint: rights,
        at: [signature.role_arn, signature.access_key_id],
      });
    return failures?.get(code)?.() ?? failureOfAwsCode(code, fields);
  }
}

/** Returns the name of an error: `QueueDoesNotExist` of `com.amazonaws.sqs#QueueDoesNotExist`. */
const codeOf = (answer: unknown): string | undefined => text(answer, '__type')?.split('#').at(-1)?.split(':')[0];

/** Whether an error is one of a missing permission. */
export const isDenied = (error: ApiError): boolean => error.outcome.reason === 'forbidden';
