import type { PollAwsSignature } from '@connector-frame/catalog/types';
import { AwsV4Signer } from 'aws4fetch';
import { setHeader, type Authentication, type Credentials } from '../signing.js';
import { fillCredential, readField, readOptional } from './credentials.js';

/** Signs each request with AWS Signature Version 4. */
export function awsAuthentication(method: PollAwsSignature, { config, vendorNow }: Credentials): Authentication {
  const accessKeyId = readField(config, method.access_key_id);
  const secretAccessKey = readField(config, method.secret_access_key);
  const sessionToken = readOptional(config, method.session_token);
  const region = fillCredential(method.region, config);
  return {
    async sign(request) {
      const { method: verb, url, headers, body } = request;
      const signer = new AwsV4Signer({
        method: verb,
        url: url.href,
        headers,
        ...(body !== undefined && { body: typeof body === 'string' ? body : Uint8Array.from(body) }),
        accessKeyId,
        secretAccessKey,
        ...(sessionToken !== undefined && { sessionToken }),
        service: method.service,
        region,
        datetime: new Date(vendorNow()).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
      });
      const signed = await signer.sign();
      for (const [name, value] of signed.headers) setHeader(headers, name, value, method.secret_access_key);
      request.url = signed.url;
    },
    renew: () => false,
  };
}
