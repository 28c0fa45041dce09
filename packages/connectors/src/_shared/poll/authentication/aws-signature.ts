import type { PollAwsSignature } from '@connector-frame/catalog/types';
import { AwsV4Signer } from 'aws4fetch';
import { setHeader, type Authentication, type Credentials, type GrantResponse, type Outgoing } from '../signing.js';
import { fillCredential, readField, readOptional } from './credentials.js';
import { hasNone, renewalTime } from './token.js';

/** Seconds that the credentials of a role are valid: the shortest maximum that a role can have. */
const ROLE_SECONDS = 3_600;

interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/** Signs each request with AWS Signature Version 4, after assuming a role if there is one. */
export function awsAuthentication(method: PollAwsSignature, credentials: Credentials): Authentication {
  const { config, now, vendorNow } = credentials;
  const own: AwsKeys = {
    accessKeyId: readField(config, method.access_key_id),
    secretAccessKey: readField(config, method.secret_access_key),
    sessionToken: readOptional(config, method.session_token),
  };
  const region = fillCredential(method.region, config);
  const role = readOptional(config, method.role_arn);
  let assumed: { keys: AwsKeys; until: number } | undefined;

  async function sign(request: Outgoing, keys: AwsKeys, service: string): Promise<void> {
    const { method: verb, url, headers, body } = request;
    const signer = new AwsV4Signer({
      method: verb,
      url: url.href,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : Uint8Array.from(body) }),
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey,
      ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
      service,
      region,
      datetime: new Date(vendorNow()).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    });
    const signed = await signer.sign();
    for (const [name, value] of signed.headers) setHeader(headers, name, value, method.secret_access_key);
    request.url = signed.url;
  }

  /** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */
  async function assume(roleArn: string, signal: AbortSignal): Promise<AwsKeys> {
    const externalId = readOptional(config, method.external_id);
    const body = new URLSearchParams({
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: roleArn,
      RoleSessionName: 'connector-frame',
      DurationSeconds: String(ROLE_SECONDS),
      ...(externalId !== undefined && { ExternalId: externalId }),
    }).toString();
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
    const request = { method: 'POST', url: stsEndpoint(region), headers, body };
    await sign(request, own, 'sts');
    return keysIn(await credentials.requester(request, signal), credentials);
  }

  return {
    async sign(request, signal) {
      if (role !== undefined && (!assumed || assumed.until <= now()))
        assumed = { keys: await assume(role, signal), until: renewalTime(now(), ROLE_SECONDS) };
      await sign(request, assumed?.keys ?? own, method.service);
    },
    renew: () => false,
  };
}

const stsEndpoint = (region: string): URL =>
  new URL(`https://sts.${encodeURIComponent(region)}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`);

/** The response is XML in which these elements occur once and contain no entities. */
function keysIn(response: GrantResponse, { refused, subject }: Credentials): AwsKeys {
  const [accessKeyId, secretAccessKey, sessionToken] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map(
    (name) => new RegExp(`<${name}>\\s*([^<\\s]+)\\s*</${name}>`).exec(response.text)?.[1],
  );
  if (accessKeyId && secretAccessKey && sessionToken) return { accessKeyId, secretAccessKey, sessionToken };
  throw hasNone(response, refused, subject);
}
