import type { TestOutcome } from './tester.js';

/** An access key of AWS, perhaps a temporary one of a role. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only for temporary keys. */
  readonly sessionToken?: string;
}

/**
 * Assumes roles of customers with the service's own identity at AWS. Connectors never get the keys of
 * that identity.
 */
export interface AwsRoles {
  /**
   * What the trust policy of a role has to require as `sts:ExternalId`. It is that of the
   * organization, which can't choose it: no organization can use a role that trusts another one.
   */
  readonly externalId: string;
  /**
   * Returns temporary keys of a role, which are valid for at least some minutes.
   * @param rejected keys that AWS no longer accepts: others are returned
   * @returns or why the role can't be assumed, in words for the person who fills in the form
   * @throws {EgressError}
   */
  assume(roleArn: string, rejected?: AwsKeys): Promise<AwsKeys | Extract<TestOutcome, { ok: false }>>;
}
