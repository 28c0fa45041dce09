import { failed, type Failure } from '../connection-test/outcome.js';

/** Pointers to the fields that a failure is reported at. Absent: the type has no such field. */
export interface AwsFields {
  accessKey?: string | undefined;
  secretKey?: string | undefined;
  role?: string | undefined;
  externalId?: string | undefined;
}

/**
 * Failures by error code, for codes that all services of AWS share.
 * https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html
 */
const byCode: ReadonlyMap<string, (fields: AwsFields) => Failure> = new Map([
  ...['InvalidAccessKeyId', 'InvalidClientTokenId', 'UnrecognizedClientException'].map(
    (code) =>
      [
        code,
        ({ accessKey }: AwsFields) => failed('invalid_credentials', 'There is no such access key.', { at: accessKey }),
      ] as const,
  ),
  ...['SignatureDoesNotMatch', 'InvalidSignatureException'].map(
    (code) =>
      [
        code,
        ({ secretKey }: AwsFields) =>
          failed('invalid_credentials', 'The secret access key does not match the access key ID.', { at: secretKey }),
      ] as const,
  ),
  ...['ExpiredToken', 'ExpiredTokenException'].map(
    (code) =>
      [
        code,
        ({ accessKey, secretKey }: AwsFields) =>
          failed('invalid_credentials', 'This access key has expired.', { at: [accessKey, secretKey] }),
      ] as const,
  ),
  [
    'RequestTimeTooSkewed',
    () =>
      failed('upstream_error', 'The clock of this service and that of AWS differ too much.', {
        hint: 'Tell your administrator.',
      }),
  ],
  [
    'RegionDisabledException',
    () =>
      failed('forbidden', 'This region is not enabled for the account of the access key.', {
        hint: 'Enable the region, or its STS endpoint, in the account settings of AWS.',
      }),
  ],
]);

/** Returns the failure for an error code, or `undefined` for a code without a specific message. */
export function failureOfAwsCode(code: string | undefined, fields: AwsFields): Failure | undefined {
  return byCode.get(code ?? '')?.(fields);
}
