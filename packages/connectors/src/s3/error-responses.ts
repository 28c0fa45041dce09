import { statusFailure, type Subject } from '../_shared/connection-test/failures.js';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import { element } from '../_shared/xml-elements.js';

const ACCESS_KEY = '/secrets/access_key';
const SECRET_KEY = '/secrets/secret_key';
const REGION = '/settings/region';

const wrongRegion = (): Failure =>
  failed('not_found', 'The bucket is in another region.', {
    hint: 'The console of the provider shows the region beside the bucket.',
    at: REGION,
  });
const wrongKey = (): Failure => failed('invalid_credentials', 'There is no such access key.', { at: ACCESS_KEY });

/**
 * Failures by S3 or STS error code.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
const failuresByCode: ReadonlyMap<string, () => Failure> = new Map([
  ['InvalidAccessKeyId', wrongKey],
  ['InvalidClientTokenId', wrongKey],
  [
    'SignatureDoesNotMatch',
    () => failed('invalid_credentials', 'The secret access key does not match the access key ID.', { at: SECRET_KEY }),
  ],
  [
    'ExpiredToken',
    () => failed('invalid_credentials', 'This access key has expired.', { at: [ACCESS_KEY, SECRET_KEY] }),
  ],
  ['NoSuchBucket', () => failed('not_found', 'There is no bucket by this name.', { at: '/settings/bucket' })],
  ['PermanentRedirect', wrongRegion],
  ['AuthorizationHeaderMalformed', wrongRegion],
  ['IllegalLocationConstraintException', wrongRegion],
  [
    'RequestTimeTooSkewed',
    () =>
      failed('upstream_error', 'The clock of this service and that of the storage differ too much.', {
        hint: 'Tell your administrator.',
      }),
  ],
  ['SlowDown', () => statusFailure(429, { product: 'the storage' })],
]);

/** Returns the failure for an error code, or `undefined` for a code without a specific message. */
export function failureOfCode(code: string | undefined): Failure | undefined {
  return failuresByCode.get(code ?? '')?.();
}

/**
 * Converts an unsuccessful response to a failure.
 * @param permissions hint about the permissions that the access key may lack
 */
export function failureOfResponse(response: Response, body: string, subject: Subject, permissions: string): Failure {
  const code = element(body, 'Code');
  const known = failureOfCode(code);
  if (known) return known;
  if (response.status === 301) return wrongRegion();
  if (code === 'AccessDenied' || response.status === 403) {
    return failed('forbidden', 'This access key lacks permissions on the bucket.', {
      hint: permissions,
      at: [ACCESS_KEY, '/settings/bucket'],
    });
  }
  return statusFailure(response.status, subject);
}
