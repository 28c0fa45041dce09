import type { AwsStatement } from '@connector-frame/catalog/types';
import type { Messages } from '../messages/index.js';
import type { AwsTrust } from '../model/wire.js';
import { fillAll, type Lookup } from './fill.js';

/** A text to copy. */
export interface Step {
  title: string;
  /** Visible lines; constant, so that the height tells nothing about the values. */
  rows: number;
  text: (lookup: Lookup) => string;
}

const ROWS = 14;

export const linesOf = (text: string): number => Math.min(text.split('\n').length, ROWS);

const print = (value: object): string => JSON.stringify(value, null, 2);

/** Hosts of the AWS console, and a region of each partition. */
const CONSOLES: Readonly<Record<string, [host: string, region: string]>> = {
  aws: ['console.aws.amazon.com', 'us-east-1'],
  'aws-cn': ['console.amazonaws.cn', 'cn-north-1'],
  'aws-us-gov': ['console.amazonaws-us-gov.com', 'us-gov-west-1'],
};

const filled = (statements: readonly AwsStatement[], lookup: Lookup): AwsStatement[] =>
  statements.map(({ actions, resources }) => ({
    actions,
    resources: resources.flatMap((resource) => fillAll(resource, lookup)),
  }));

const policyOf = (statements: readonly AwsStatement[]): object => ({
  Version: '2012-10-17',
  Statement: statements.map(({ actions, resources }) => ({ Effect: 'Allow', Action: actions, Resource: resources })),
});

/** Returns the parameters of the CloudFormation template. */
function parametersOf(trust: AwsTrust, statements: readonly AwsStatement[]): [name: string, value: string][] {
  return [
    ['AccountId', trust.account_id ?? ''],
    ['ExternalId', trust.external_id],
    ...statements.flatMap(({ actions, resources }, index): [string, string][] => [
      [`Actions${index + 1}`, actions.join()],
      [`Resources${index + 1}`, resources.join()],
    ]),
  ];
}

/** The template separates values by commas, so it can't have one that contains a comma. */
const fits = (statements: readonly AwsStatement[]): boolean =>
  statements.every(({ resources }) => !resources.some((resource) => resource.includes(',')));

/** Returns what a role must trust and allow, as texts to copy. */
export function awsSteps(trust: AwsTrust, statements: readonly AwsStatement[], m: Messages): Step[] {
  const policy = (lookup: Lookup): string => print(policyOf(filled(statements, lookup)));
  const template = (lookup: Lookup): string => {
    const values = filled(statements, lookup);
    if (!fits(values)) return m.awsNoTemplate;
    const parameters = { ...trust.role_template.Parameters };
    for (const [name, Default] of parametersOf(trust, values)) parameters[name] = { ...parameters[name], Default };
    return print({ ...trust.role_template, Parameters: parameters });
  };
  const trustPolicy = print(trust.trust_policy ?? {});
  const steps = [
    { title: m.awsAccount, rows: 1, text: () => trust.account_id ?? '' },
    { title: m.awsExternalId, rows: 1, text: () => trust.external_id },
    { title: m.awsTrustPolicy, rows: linesOf(trustPolicy), text: () => trustPolicy },
  ];
  if (statements.length === 0) return steps;
  return [
    ...steps,
    { title: m.awsPermissions, rows: linesOf(print(policyOf(statements))), text: policy },
    ...(trust.role_template_url === null ? [{ title: m.awsTemplate, rows: 4, text: template }] : []),
  ];
}

/**
 * Returns the address at which AWS creates the role, or undefined if the operator has put the template
 * nowhere.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-create-stacks-quick-create-links.html
 */
export function quickCreateUrl(
  trust: AwsTrust,
  statements: readonly AwsStatement[],
  lookup: Lookup,
  given: unknown,
): string | undefined {
  const values = filled(statements, lookup);
  const [host, fallback] = CONSOLES[trust.partition ?? ''] ?? [];
  if (trust.role_template_url === null || host === undefined || values.length === 0 || !fits(values)) return undefined;
  const region = typeof given === 'string' && /^[a-z]{2,4}(?:-[a-z]+)+-\d$/.test(given) ? given : fallback;
  const query = [
    ['templateURL', trust.role_template_url],
    ['stackName', 'connector-role'],
    ...parametersOf(trust, values).map(([name, value]) => [`param_${name}`, value]),
  ];
  // A `+` for a space, as `URLSearchParams` writes, is not decoded in a fragment.
  const text = query.map(([name, value = '']) => `${name}=${encodeURIComponent(value)}`).join('&');
  return `https://${host}/cloudformation/home?region=${region}#/stacks/quickcreate?${text}`;
}
