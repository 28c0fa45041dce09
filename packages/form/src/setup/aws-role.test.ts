import { describe, expect, it } from 'vitest';
import en from '../messages/en.json' with { type: 'json' };
import { createMessages } from '../messages/index.js';
import type { AwsTrust } from '../model/wire.js';
import { awsSteps, quickCreateUrl } from './aws-role.js';
import { createLookup } from './fill.js';

const messages = createMessages(en);
const trust: AwsTrust = {
  external_id: 'nLx0rZT3vPDbSPB0tAKqgYlVOGSWOXKDHv3tqIBXCBs',
  account_id: '999988887777',
  trust_policy: { Version: '2012-10-17', Statement: [] },
  partition: 'aws',
  role_template: { Parameters: { AccountId: { Type: 'String' }, Resources1: { Type: 'CommaDelimitedList' } } },
  role_template_url: 'https://acme.s3.eu-west-1.amazonaws.com/role.json',
};
const statements = [
  { actions: ['s3:ListBucket', 's3:GetObject'], resources: ['arn:{{partition}}:s3:::{{/settings/bucket}}', '*'] },
];
const lookupOf = (bucket: string) =>
  createLookup((path) => (path === '/settings/bucket' ? bucket : undefined), { partition: 'aws' });

const fragmentOf = (url = ''): URLSearchParams => new URLSearchParams(new URL(url).hash.split('?')[1]);

describe('the link to CloudFormation', () => {
  // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-create-stacks-quick-create-links.html
  it('has the form that AWS documents, and the values as parameters', () => {
    const url = quickCreateUrl(trust, statements, lookupOf('acme'), 'eu-west-1');
    expect(url).toMatch(
      /^https:\/\/console\.aws\.amazon\.com\/cloudformation\/home\?region=eu-west-1#\/stacks\/quickcreate\?templateURL=/,
    );
    expect(Object.fromEntries(fragmentOf(url))).toEqual({
      templateURL: trust.role_template_url,
      stackName: 'connector-role',
      param_AccountId: trust.account_id,
      param_ExternalId: trust.external_id,
      param_Actions1: 's3:ListBucket,s3:GetObject',
      param_Resources1: 'arn:aws:s3:::acme,*',
    });
  });

  it.each([
    ['aws', 'nowhere', 'https://console.aws.amazon.com/cloudformation/home?region=us-east-1#'],
    ['aws-cn', undefined, 'https://console.amazonaws.cn/cloudformation/home?region=cn-north-1#'],
    ['aws-us-gov', 'us-gov-east-1', 'https://console.amazonaws-us-gov.com/cloudformation/home?region=us-gov-east-1#'],
  ])('leads to the console of %s, region %s', (partition, region, start) => {
    const url = quickCreateUrl({ ...trust, partition }, statements, lookupOf('acme'), region);
    expect(url?.startsWith(start), url).toBe(true);
  });

  it('is not offered without an uploaded template, or for values that its lists would split', () => {
    const none = { ...trust, role_template_url: null };
    expect(quickCreateUrl(none, statements, lookupOf('acme'), undefined)).toBeUndefined();
    expect(quickCreateUrl(trust, statements, lookupOf('a,b'), undefined)).toBeUndefined();
    expect(quickCreateUrl(trust, [], lookupOf('acme'), undefined)).toBeUndefined();
  });
});

const textsOf = (given: AwsTrust, bucket: string): Record<string, string> =>
  Object.fromEntries(awsSteps(given, statements, messages).map(({ title, text }) => [title, text(lookupOf(bucket))]));

const rowsOf = (bucket: string) =>
  awsSteps(trust, statements, messages).map((step) => [step.rows, step.text(lookupOf(bucket)).length > 0]);

describe('the texts to copy', () => {
  it('are the account, the external ID and both policies', () => {
    const { [en.awsPermissions]: permissions = '', ...texts } = textsOf(trust, 'acme');
    expect(texts).toEqual({
      [en.awsAccount]: trust.account_id,
      [en.awsExternalId]: trust.external_id,
      [en.awsTrustPolicy]: JSON.stringify(trust.trust_policy, null, 2),
    });
    expect(JSON.parse(permissions)).toEqual({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: ['s3:ListBucket', 's3:GetObject'], Resource: ['arn:aws:s3:::acme', '*'] }],
    });
  });

  it('are also the template with the values as defaults, if there is no link', () => {
    const none = { ...trust, role_template_url: null };
    expect(JSON.parse(textsOf(none, 'acme')[en.awsTemplate] ?? '').Parameters).toMatchObject({
      AccountId: { Type: 'String', Default: trust.account_id },
      Resources1: { Type: 'CommaDelimitedList', Default: 'arn:aws:s3:::acme,*' },
    });
    expect(textsOf(none, 'a,b')[en.awsTemplate]).toBe(en.awsNoTemplate);
  });

  it('have as many lines for every value', () => {
    expect(rowsOf('acme')).toEqual(rowsOf(''));
  });
});
