/**
 * Polls AWS types against moto, an independent implementation of AWS APIs: github.com/getmoto/moto. It
 * finds the service by the scope of the signature and the operation by the request, as AWS does.
 */
import { loadCatalog } from '@connector-frame/catalog';
import type { DataRecord, Egress } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { expect, test } from 'vitest';
import { awsRoles as aws } from '../../../../../test/support/aws-roles.js';
import { long } from '../../../../../test/support/long.js';
import { startMoto } from '../../../../../test/support/moto.js';
import { Driver, TestClock } from '../../../../../test/support/poll-driver.js';
import { connectors } from '../../index.js';

const REGION = 'us-east-1';
const SERVICES = ['cognito-idp', 'ec2', 'kms', 'organizations', 'secretsmanager'] as const;
type Service = (typeof SERVICES)[number];

/** Creates something at moto, which does not verify signatures. */
async function create<Created>(origin: string, service: Service, target: string, body: object): Promise<Created> {
  const response = await fetch(origin, {
    method: 'POST',
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20260310/${REGION}/${service}/aws4_request, SignedHeaders=host, Signature=0`,
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': target,
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${target}: HTTP ${response.status}`);
  const created: Created = await response.json();
  return created;
}

/** Reads a type once, after its connection test. */
async function read(origin: string, typeId: string, more: Record<string, unknown>): Promise<readonly DataRecord[]> {
  const type = loadCatalog().get('input', typeId);
  if (!type) throw new Error(`${typeId} is not an input`);
  const settings = { cron: '0 * * * *', region: REGION, role_arn: 'arn:aws:iam::123456789012:role/LogReader', ...more };
  const config = { settings, secrets: {} };
  // moto loads a service with its first request.
  const real = createEgress({ allow: ['127.0.0.0/8'], timeoutMs: 60_000 });
  const egress: Egress = {
    ...real,
    fetch(address, init) {
      const { hostname, pathname, search } = new URL(address);
      expect(hostname).toMatch(new RegExp(`^(?:${SERVICES.join('|')})\\.${REGION}\\.amazonaws\\.com$`));
      return real.fetch(origin + pathname + search, init);
    },
  };
  const { testConnection, createInput } = connectors(type);
  expect(await testConnection?.(config, { egress, aws, signal: new AbortController().signal })).toMatchObject({
    ok: true,
  });
  const driver = new Driver(() => {
    const input = createInput?.(config, { type, egress, clock: new TestClock(), aws });
    if (input?.kind !== 'pages') throw new Error(`${typeId} cannot be polled`);
    return input;
  });
  await driver.poll();
  return driver.delivered;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test.runIf(long)('reads inventories of AWS from moto, page by page', { timeout: 300_000 }, async () => {
  const moto = await startMoto();
  const { origin } = moto;
  try {
    const keys: string[] = [];
    for (const n of numbers(2)) {
      const { KeyMetadata: key } = await create<{ KeyMetadata: { KeyId: string } }>(
        origin,
        'kms',
        'TrentService.CreateKey',
        { Description: `key ${n}` },
      );
      keys.push(key.KeyId);
    }
    await create(origin, 'kms', 'TrentService.CreateAlias', { AliasName: 'alias/acme', TargetKeyId: keys[0] });
    const grant = { KeyId: keys[0], GranteePrincipal: 'arn:aws:iam::123456789012:role/App', Operations: ['Encrypt'] };
    const { GrantId } = await create<{ GrantId: string }>(origin, 'kms', 'TrentService.CreateGrant', grant);
    const described = await read(origin, 'aws-kms', { kms_type: 'KEYS' });
    expect(
      described
        .map(({ Description }) => Description)
        .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    ).toEqual(['key 0', 'key 1']);
    expect(await read(origin, 'aws-kms', { kms_type: 'ALIASES' })).toContainEqual(
      expect.objectContaining({ AliasName: 'alias/acme', TargetKeyId: keys[0] }),
    );
    expect(await read(origin, 'aws-kms', { kms_type: 'GRANTS' })).toMatchObject([{ KeyId: keys[0], GrantId }]);

    // More than a page of 100.
    for (const n of numbers(101))
      await create(origin, 'secretsmanager', 'secretsmanager.CreateSecret', {
        Name: `secret-${n}`,
        SecretString: 'value-4711',
        ClientRequestToken: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      });
    const secrets = await read(origin, 'aws-secrets-manager', { include_planned_deletion: false });
    expect(new Set(secrets.map(({ Name }) => Name)).size).toBe(101);
    expect(JSON.stringify(secrets)).not.toContain('value-4711');

    await create(origin, 'organizations', 'AWSOrganizationsV20161128.CreateOrganization', { FeatureSet: 'ALL' });
    const { Roots } = await create<{ Roots: { Id: string }[] }>(
      origin,
      'organizations',
      'AWSOrganizationsV20161128.ListRoots',
      {},
    );
    const root = Roots[0]?.Id;
    const parent = { parent_id: root };
    for (const n of numbers(21))
      await create(origin, 'organizations', 'AWSOrganizationsV20161128.CreateAccount', {
        AccountName: `account ${n}`,
        Email: `account-${n}@acme.example`,
      });
    await create(origin, 'organizations', 'AWSOrganizationsV20161128.CreateOrganizationalUnit', {
      ParentId: root,
      Name: 'Production',
    });
    // The management account is one as well.
    expect(await read(origin, 'aws-organizations', { ...parent, child_type: 'ACCOUNT' })).toHaveLength(22);
    expect(await read(origin, 'aws-organizations', { ...parent, child_type: 'ORGANIZATIONAL_UNIT' })).toMatchObject([
      { Name: 'Production' },
    ]);

    const { UserPool: pool } = await create<{ UserPool: { Id: string } }>(
      origin,
      'cognito-idp',
      'AWSCognitoIdentityProviderService.CreateUserPool',
      { PoolName: 'acme' },
    );
    // More than a page of 60.
    for (const n of numbers(61))
      await create(origin, 'cognito-idp', 'AWSCognitoIdentityProviderService.AdminCreateUser', {
        UserPoolId: pool.Id,
        Username: `user-${n}`,
      });
    expect(await read(origin, 'aws-cognito-users', { user_pool_id: pool.Id })).toHaveLength(61);
    const filter = { attribute: 'username', operator: '=', value: 'user-7' };
    expect(await read(origin, 'aws-cognito-users', { user_pool_id: pool.Id, filter })).toMatchObject([
      { Username: 'user-7' },
    ]);

    const groups = await read(origin, 'aws-security-groups', {});
    expect(groups).toContainEqual(expect.objectContaining({ groupName: 'default', ownerId: '123456789012' }));
  } finally {
    await moto.close();
  }
});
