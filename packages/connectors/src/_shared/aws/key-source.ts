import type { AwsKeys, AwsRoles, Egress } from '@connector-frame/engine/connector-api';
import { failed, missing, type Failure } from '../connection-test/outcome.js';
import type { AwsEndpoint } from './endpoint.js';
import type { AwsFields } from './failures.js';
import { assumeRole, ROLE_SECONDS } from './sts.js';

/** How a configuration signs in. */
export interface AwsSignIn {
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  sessionToken?: string | undefined;
  /** A role to assume: with the access key, or else with the service's own identity. */
  roleArn?: string | undefined;
  /** The external ID that the customer entered. */
  externalId?: string | undefined;
  /** Region of the STS endpoint for an access key of the customer. */
  region: string;
}

export interface KeySourceOptions {
  egress: Egress;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Time of signatures. Default: `now`. */
  signingNow?: () => number;
  endpoint: AwsEndpoint;
  /** The service's own identity. Absent: it has none. */
  roles?: AwsRoles | undefined;
  fields: AwsFields;
}

/** Keys are renewed this many milliseconds before they expire. */
const MARGIN_MS = 300_000;

/** Returns keys to sign requests with. Keys of a role are kept and renewed before they expire. */
export class KeySource {
  readonly #own: AwsKeys | undefined;
  #assumed: { keys: AwsKeys; until: number } | undefined;
  #pending: Promise<AwsKeys | Failure> | undefined;
  #rejected: AwsKeys | undefined;
  readonly #signIn: AwsSignIn;
  readonly #options: KeySourceOptions;

  constructor(signIn: AwsSignIn, options: KeySourceOptions) {
    this.#signIn = signIn;
    this.#options = options;
    const { accessKeyId, secretAccessKey, sessionToken } = signIn;
    if (accessKeyId !== undefined && secretAccessKey !== undefined)
      this.#own = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  }

  /** Returns why there can't be any keys, or `undefined`. */
  problem(): Failure | undefined {
    const { accessKeyId, secretAccessKey, roleArn, externalId } = this.#signIn;
    const { fields, roles } = this.#options;
    if (this.#own) return undefined;
    const hasNone = accessKeyId === undefined && secretAccessKey === undefined;
    if (roleArn === undefined || !hasNone) {
      if (accessKeyId === undefined && fields.accessKey !== undefined)
        return missing(fields.accessKey, 'Enter an access key ID.');
      if (fields.secretKey !== undefined && secretAccessKey === undefined)
        return missing(fields.secretKey, 'Enter the secret access key.');
      return missing(fields.role ?? '', 'Enter the ARN of a role.');
    }
    if (!roles) return noIdentity(fields);
    if (externalId !== undefined && externalId !== roles.externalId)
      return failed('invalid_config', `The external ID is ${roles.externalId}. It can't be chosen.`, {
        hint: 'Leave the field empty, and require this external ID in the trust policy of the role.',
        at: fields.externalId,
      });
    return undefined;
  }

  /**
   * Concurrent calls share a request.
   * @throws EgressError
   */
  async get(): Promise<AwsKeys | Failure> {
    const problem = this.problem();
    if (problem) return problem;
    const { roleArn } = this.#signIn;
    if (roleArn === undefined) return this.#own ?? missing(this.#options.fields.accessKey ?? '', '');
    if (!this.#own && this.#options.roles) {
      const rejected = this.#rejected;
      this.#rejected = undefined;
      const keys = await this.#options.roles.assume(roleArn, rejected);
      if (!('ok' in keys)) this.#assumed = { keys, until: 0 };
      return keys;
    }
    if (this.#assumed && this.#options.now() < this.#assumed.until) return this.#assumed.keys;
    this.#pending ??= this.#assume(roleArn).finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  /** Whether other keys may be had than those that AWS rejected. Discards them. */
  reject(): boolean {
    if (!this.#assumed) return false;
    this.#rejected = this.#assumed.keys;
    this.#assumed = undefined;
    return true;
  }

  async #assume(roleArn: string): Promise<AwsKeys | Failure> {
    const { externalId, region } = this.#signIn;
    const { egress, now, signingNow = now, endpoint, fields } = this.#options;
    if (!this.#own) return noIdentity(fields);
    const began = now();
    const keys = await assumeRole(
      { keys: this.#own, region, egress, endpoint, now: signingNow, fields },
      { roleArn, externalId },
    );
    if (!('ok' in keys)) this.#assumed = { keys, until: began + ROLE_SECONDS * 1_000 - MARGIN_MS };
    return keys;
  }
}

const noIdentity = ({ accessKey, role }: AwsFields): Failure =>
  failed('unsupported', 'This service has no AWS identity to assume the role with.', {
    hint:
      accessKey === undefined
        ? 'Ask your administrator to configure one.'
        : 'Enter an access key that may assume the role, or ask your administrator to configure an identity.',
    at: role,
  });
