import { AwsV4Signer } from 'aws4fetch';
import type { Egress } from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import { failureOfCode } from './error-responses.js';
import { element } from '../_shared/xml-elements.js';

export interface Credentials {
  accessKey: string;
  secretKey: string;
  /** Only for temporary credentials of a role. */
  sessionToken?: string;
}

const sts: Subject = { product: 'AWS', credential: '/secrets/secret_key' };

/**
 * Assumes the role for 15 minutes.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
 */
export async function assumeRole(
  role: string,
  { accessKey, secretKey }: Credentials,
  region: string,
  egress: Egress,
  endpoint: string,
): Promise<Credentials | Failure> {
  const form = new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: 'connector-frame',
    DurationSeconds: '900',
  });
  const body = form.toString();
  const signed = await new AwsV4Signer({
    method: 'POST',
    url: `${endpoint}/`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    service: 'sts',
    region,
  }).sign();
  const response = await egress.fetch(signed.url, { method: 'POST', headers: signed.headers, body });
  const text = await response.text();
  if (response.status !== 200) {
    const code = element(text, 'Code');
    if (code === 'AccessDenied') {
      return failed('forbidden', 'This access key may not assume the role.', {
        hint: "Allow it in the role's trust policy, and sts:AssumeRole for the user.",
        at: '/settings/role_arn',
      });
    }
    return failureOfCode(code) ?? statusFailure(response.status, sts);
  }
  const taken = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map((name) => element(text, name));
  const [id, secret, token] = taken;
  return id && secret && token ? { accessKey: id, secretKey: secret, sessionToken: token } : unexpected(sts);
}
