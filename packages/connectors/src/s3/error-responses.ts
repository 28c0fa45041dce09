import { statusFailure, type Subject } from '../_shared/connection-test/failures.js';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import { failureOfAwsCode, type AwsFields } from '../_shared/aws/failures.js';
import { element } from '../_shared/xml-elements.js';

const ACCESS_KEY = '/secrets/access_key';
const SECRET_KEY = '/secrets/secret_key';
const REGION = '/settings/region';

const wrongRegion = (): Failure =>
  failed('not_found', 'The bucket is in another region.', {
    hint: 'The console of the provider shows the region beside the bucket.',
    at: REGION,
  });

/** The fields of types that use S3. */
export const S3_FIELDS: AwsFields = {
  accessKey: ACCESS_KEY,
  secretKey: SECRET_KEY,
  role: '/settings/role_arn',
  externalId: '/settings/external_id',
};

/**
 * Failures by S3 error code.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
const failuresByCode: ReadonlyMap<string, () => Failure> = new Map([
  ['NoSuchBucket', () => failed('not_found', 'There is no bucket by this name.', { at: '/settings/bucket' })],
  ['PermanentRedirect', wrongRegion],
  ['AuthorizationHeaderMalformed', wrongRegion],
  ['IllegalLocationConstraintException', wrongRegion],
  ['SlowDown', () => statusFailure(429, { product: 'the storage' })],
]);

/** Returns the failure for an error code, or `undefined` for a code without a specific message. */
export function failureOfCode(code: string | undefined): Failure | undefined {
  return failuresByCode.get(code ?? '')?.() ?? failureOfAwsCode(code, S3_FIELDS);
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
