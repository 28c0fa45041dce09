import { randomBytes } from 'node:crypto';
import { EgressError, type AwsKeys, type AwsRoles, type Egress } from '@connector-frame/engine/connector-api';
import { failed, type Failure } from '../connection-test/outcome.js';
import { awsEndpoint, type AwsEndpoint } from './endpoint.js';
import { assumeRole, callerArn, ROLE_SECONDS, type StsCaller } from './sts.js';

export interface AwsIdentityOptions {
  /** The operator's keys for the service. */
  keys: AwsKeys;
  /** Region of the STS endpoint. */
  region: string;
  egress: Egress;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Returns the external ID of an organization. It must be stable, and differ for each one. */
  externalIdOf: (organizationId: string) => string;
  endpoint?: AwsEndpoint;
}

/** The account that customers trust. */
export interface AwsAccount {
  /** 12 digits. */
  accountId: string;
  /** `aws`, `aws-cn` or `aws-us-gov`. */
  partition: string;
}

/** The service's own identity at AWS. */
export interface AwsIdentity {
  /** Returns the roles that trust the service for one organization. */
  of(organizationId: string): AwsRoles;
  /**
   * Returns the account of the identity, which AWS is asked for once.
   * @returns `undefined` if AWS does not accept the keys, or can't be reached
   */
  account(): Promise<AwsAccount | undefined>;
}

interface Assumed {
  result: Promise<AwsKeys | Failure>;
  /** Milliseconds since the epoch. */
  until: number;
}

const MARGIN_MS = 300_000;
/** Milliseconds until an account that could not be determined is asked for again. */
const ACCOUNT_RETRY_MS = 60_000;
const MAX_ROLES = 10_000;

/**
 * Creates the identity. Before it uses a role, it checks that the role can't be assumed with another
 * external ID: otherwise, every organization could use it.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
 */
export function createAwsIdentity(options: AwsIdentityOptions): AwsIdentity {
  const { keys, region, egress, now, externalIdOf, endpoint = awsEndpoint } = options;
  const caller: StsCaller = { keys, region, egress, endpoint, now, fields: { role: '/settings/role_arn' } };
  /** By organization and role. */
  const kept = new Map<string, Assumed>();
  let account: { found: Promise<AwsAccount | undefined>; until: number } | undefined;

  async function assume(roleArn: string, externalId: string): Promise<AwsKeys | Failure> {
    const assumed = await assumeRole(caller, { roleArn, externalId });
    if ('ok' in assumed) return isOperatorsFault(assumed) ? identityRefused() : withHint(assumed, externalId);
    const other = await assumeRole(caller, { roleArn, externalId: randomBytes(32).toString('base64url') });
    if (!('ok' in other)) return trustsEveryone(externalId);
    return other.reason === 'forbidden' ? assumed : other;
  }

  async function findAccount(): Promise<AwsAccount | undefined> {
    const arn = await callerArn(caller).catch((error: unknown) => {
      if (error instanceof EgressError) return undefined;
      throw error;
    });
    const [, partition, accountId] = (typeof arn === 'string' && /^arn:([a-z-]+):[a-z]+::(\d{12}):/.exec(arn)) || [];
    return partition !== undefined && accountId !== undefined ? { partition, accountId } : undefined;
  }

  return {
    of(organizationId) {
      const externalId = externalIdOf(organizationId);
      return {
        externalId,
        async assume(roleArn, rejected) {
          const id = JSON.stringify([organizationId, roleArn]);
          const before = kept.get(id);
          if (before && now() < before.until) {
            const result = await before.result;
            if ('ok' in result || result.accessKeyId !== rejected?.accessKeyId) return result;
          }
          // Another call may have replaced them while this one waited.
          const current = kept.get(id);
          if (current && current !== before && now() < current.until) return current.result;
          const entry = { result: assume(roleArn, externalId), until: now() + ROLE_SECONDS * 1_000 - MARGIN_MS };
          if (kept.size >= MAX_ROLES) kept.clear();
          kept.set(id, entry);
          const forget = (): void => {
            if (kept.get(id) === entry) kept.delete(id);
          };
          entry.result.then((result) => 'ok' in result && forget(), forget);
          return entry.result;
        },
      };
    },
    async account() {
      if (!account || now() >= account.until) {
        const entry = { found: findAccount(), until: Number.POSITIVE_INFINITY };
        account = entry;
        if ((await entry.found) === undefined) entry.until = now() + ACCOUNT_RETRY_MS;
      }
      return account.found;
    },
  };
}

const isOperatorsFault = ({ reason }: Failure): boolean => reason === 'invalid_credentials';

const identityRefused = (): Failure =>
  failed('upstream_error', "AWS does not accept this service's own access key.", { hint: 'Tell your administrator.' });

const withHint = (failure: Failure, externalId: string): Failure =>
  failure.reason === 'forbidden'
    ? { ...failure, hint: `Allow it in the role's trust policy, with the external ID ${externalId}.` }
    : failure;

const trustsEveryone = (externalId: string): Failure =>
  failed('forbidden', 'The role can be assumed with any external ID, so others could use it through this service.', {
    hint: `Add the condition that sts:ExternalId is ${externalId} to the role's trust policy.`,
    at: '/settings/role_arn',
  });
