import type { PollAwsSignature } from '@connector-frame/catalog/types';
import { AwsV4Signer } from 'aws4fetch';
import { EgressError, type AwsKeys } from '@connector-frame/engine/connector-api';
import { awsEndpoint, isRegion, type AwsEndpoint } from '../../aws/endpoint.js';
import { KeySource } from '../../aws/key-source.js';
import { signingTime } from '../../aws/sts.js';
import { unreachable } from '../../connection-test/failures.js';
import { failed, type Failure } from '../../connection-test/outcome.js';
import { PollError } from '../poll-error.js';
import { setHeader, type Authentication, type Credentials, type Outgoing } from '../signing.js';
import { fieldsIn, fillCredential, readOptional } from './credentials.js';

/**
 * Signs each request with AWS Signature Version 4: with an access key, or with keys of a role that is
 * assumed with the access key or with the service's own identity.
 */
export function awsAuthentication(
  method: PollAwsSignature,
  credentials: Credentials,
  endpoint: AwsEndpoint = awsEndpoint,
): Authentication {
  const { config, now, vendorNow, egress, roles, subject } = credentials;
  const region = fillCredential(method.region, config);
  if (!isRegion(region))
    throw new PollError(
      failed('invalid_config', 'This is not the code of a region.', { at: fieldsIn(method.region)[0] }),
      'permanent',
    );
  const sourceOf = (roleArn: string | undefined): KeySource =>
    new KeySource(
      {
        accessKeyId: readOptional(config, method.access_key_id),
        secretAccessKey: readOptional(config, method.secret_access_key),
        sessionToken: readOptional(config, method.session_token),
        roleArn,
        externalId: readOptional(config, method.external_id),
        region,
      },
      {
        egress,
        now,
        signingNow: vendorNow,
        endpoint,
        roles,
        fields: {
          accessKey: method.access_key_id,
          secretKey: method.secret_access_key,
          role: method.role_arn,
          externalId: method.external_id,
        },
      },
    );
  const own = method.role_of_request ? undefined : sourceOf(readOptional(config, method.role_arn));
  const problem = (own ?? sourceOf('')).problem();
  if (problem) throw toPollError(problem);
  /** Of roles of requests. */
  const sources = new Map<string, KeySource>();

  function sourceFor({ role }: Outgoing): KeySource {
    if (own) return own;
    if (!role) throw new PollError(failed('invalid_config', 'Enter the role to assume.'), 'permanent');
    const source = sources.get(role) ?? sourceOf(role);
    sources.set(role, source);
    return source;
  }

  async function keysFor(request: Outgoing, signal: AbortSignal): Promise<AwsKeys> {
    const keys = await sourceFor(request)
      .get()
      .catch((error: unknown) => {
        if (error instanceof EgressError) throw new PollError(unreachable(error.reason, subject), 'retry');
        throw error;
      });
    signal.throwIfAborted();
    if ('ok' in keys) throw toPollError(keys);
    return keys;
  }

  return {
    async sign(request, signal) {
      await sign(request, await keysFor(request, signal), {
        region: (method.region_of_host && regionOf(request.url)) || region,
        service: method.service,
        at: vendorNow(),
        field: method.secret_access_key ?? method.role_arn ?? '',
      });
    },
    renew({ status }) {
      // Not sent again: most such responses mean that the role lacks a permission.
      if (status === 401 || status === 403) for (const source of own ? [own] : sources.values()) source.reject();
      return false;
    },
  };
}

/** Returns the region in the host name of an AWS endpoint. */
const regionOf = ({ hostname }: URL): string | undefined =>
  /^[a-z0-9-]+\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/.exec(hostname)?.[1];

async function sign(
  request: Outgoing,
  { accessKeyId, secretAccessKey, sessionToken }: AwsKeys,
  { region, service, at, field }: { region: string; service: string; at: number; field: string },
): Promise<void> {
  const { method, url, headers, body } = request;
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : Uint8Array.from(body) }),
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service,
    region,
    datetime: signingTime(at),
  });
  const signed = await signer.sign();
  for (const [name, value] of signed.headers) setHeader(headers, name, value, field);
  request.url = signed.url;
}

const TEMPORARY: readonly Failure['reason'][] = ['rate_limited', 'upstream_error'];
const toPollError = (failure: Failure): PollError =>
  new PollError(failure, TEMPORARY.includes(failure.reason) ? 'retry' : 'permanent');
