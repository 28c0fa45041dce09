import { AwsV4Signer } from 'aws4fetch';
import type { AwsKeys, Egress } from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected, type Subject } from '../connection-test/failures.js';
import { failed, type Failure } from '../connection-test/outcome.js';
import { element } from '../xml-elements.js';
import type { AwsEndpoint } from './endpoint.js';
import { failureOfAwsCode, type AwsFields } from './failures.js';

/** Seconds that the keys of a role are valid: the shortest maximum that a role can have. */
export const ROLE_SECONDS = 3_600;
const TIMEOUT_MS = 10_000;

export interface StsCaller {
  keys: AwsKeys;
  /** Region of the endpoint. Keys from any regional endpoint are valid in all regions. */
  region: string;
  egress: Egress;
  endpoint: AwsEndpoint;
  /** Time of the signature, in milliseconds since the epoch. */
  now: () => number;
  fields: AwsFields;
}

export interface RoleRequest {
  roleArn: string;
  /** What the trust policy of the role requires as `sts:ExternalId`. */
  externalId?: string | undefined;
}

/**
 * Assumes a role for an hour.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
 * @throws EgressError
 */
export async function assumeRole(caller: StsCaller, { roleArn, externalId }: RoleRequest): Promise<AwsKeys | Failure> {
  const text = await call(
    caller,
    {
      Action: 'AssumeRole',
      RoleArn: roleArn,
      RoleSessionName: 'connector-frame',
      DurationSeconds: String(ROLE_SECONDS),
      ...(externalId !== undefined && { ExternalId: externalId }),
    },
    { means: 'mayNotAssume' },
  );
  if (typeof text !== 'string') return text;
  const [accessKeyId, secretAccessKey, sessionToken] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map((name) =>
    element(text, name),
  );
  return accessKeyId && secretAccessKey && sessionToken
    ? { accessKeyId, secretAccessKey, sessionToken }
    : unexpected(sts);
}

/**
 * Returns the ARN of the user or role that the keys are of. It needs no permission.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
 * @throws EgressError
 */
export async function callerArn(caller: StsCaller): Promise<string | Failure> {
  const text = await call(caller, { Action: 'GetCallerIdentity' }, {});
  if (typeof text !== 'string') return text;
  return element(text, 'Arn') ?? unexpected(sts);
}

const sts: Subject = { product: 'AWS' };

/** Returns the body of a successful response. */
async function call(
  { keys, region, egress, endpoint, now, fields }: StsCaller,
  parameters: Readonly<Record<string, string>>,
  { means }: { means?: 'mayNotAssume' },
): Promise<string | Failure> {
  const body = new URLSearchParams({ Version: '2011-06-15', ...parameters }).toString();
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  const signed = await new AwsV4Signer({
    method: 'POST',
    url: `${endpoint('sts', region)}/`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: 'sts',
    region,
    datetime: signingTime(now()),
  }).sign();
  const init = { method: 'POST', headers: signed.headers, body, repeatable: true, timeoutMs: TIMEOUT_MS } as const;
  const response = await egress.fetch(signed.url, init);
  const text = await response.text();
  if (response.status === 200) return text;
  const code = element(text, 'Code');
  if (means === 'mayNotAssume' && code === 'AccessDenied') return mayNotAssume(fields);
  const subject = { ...sts, ...(fields.secretKey !== undefined && { credential: fields.secretKey }) };
  return failureOfAwsCode(code, fields) ?? statusFailure(code === 'Throttling' ? 429 : response.status, subject);
}

/** Returns a time as signatures contain it: `20150830T123600Z`. */
export const signingTime = (at: number): string => new Date(at).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');

const mayNotAssume = ({ accessKey, role }: AwsFields): Failure =>
  failed('forbidden', `${accessKey === undefined ? 'This service' : 'This access key'} may not assume the role.`, {
    hint: "Allow it in the role's trust policy, and sts:AssumeRole for the user.",
    at: role,
  });
