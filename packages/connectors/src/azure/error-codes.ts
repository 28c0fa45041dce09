import { failed, type Failure } from '../_shared/connection-test/outcome.js';

export interface ErrorFields {
  /** Field of the credential. */
  field: string;
  /** Field of the storage account. */
  account: string;
  /** What the credentials may lack. */
  role: string;
}

/**
 * Returns the failure for an error code of Azure Storage, or `undefined` for one without a specific
 * message.
 * https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes
 */
export function failureOfCode(code: string | undefined, { field, account, role }: ErrorFields): Failure | undefined {
  switch (code) {
    case 'AuthorizationPermissionMismatch':
    case 'InsufficientAccountPermissions':
      return failed('forbidden', 'The credentials lack permissions on the container.', { hint: role, at: field });
    case 'AuthorizationFailure':
      return failed('forbidden', 'The storage account does not allow this request.', {
        hint: `${role} The firewall of the account must allow this service.`,
        at: [field, account],
      });
    case 'KeyBasedAuthenticationNotPermitted':
      return failed('forbidden', 'The storage account does not allow access by account key.', { at: field });
    case 'PublicAccessNotPermitted':
    case 'NoAuthenticationInformation':
    case 'AuthenticationFailed':
    case 'InvalidAuthenticationInfo':
      return failed('invalid_credentials', 'Azure Storage did not accept the credentials.', { at: field });
    case 'AccountIsDisabled':
      return failed('forbidden', 'The storage account is disabled.', { at: account });
    default:
      return undefined;
  }
}
