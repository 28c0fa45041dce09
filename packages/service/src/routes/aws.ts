import { z } from '@hono/zod-openapi';
import { organizationRoute, type Route } from '../http/route.js';
import { awsExternalId } from '../secrets/aws-external-id.js';
import { roleTemplate } from './aws-role-template.js';
import type { RouteContext } from './context.js';
import { Id } from './schemas.js';

const TrustBody = z
  .object({
    external_id: z.string().openapi({
      description: 'What the trust policy of a role must require as `sts:ExternalId`. It never changes.',
    }),
    account_id: z.string().nullable().openapi({
      description:
        "Account of the service's own identity. `null`: there is none, or AWS does not accept its access key.",
    }),
    trust_policy: z
      .record(z.string(), z.unknown())
      .nullable()
      .openapi({ description: 'Trust policy for a role that the service may assume. `null` without an account.' }),
    partition: z.string().nullable().openapi({
      description: 'Partition of the account, such as `aws` or `aws-us-gov`. `null` without an account.',
    }),
    role_template: z.record(z.string(), z.unknown()).openapi({
      description:
        'CloudFormation template that creates such a role. Its parameters are the account, the external ID, and up to three statements.',
    }),
    role_template_url: z.string().nullable().openapi({
      description: 'Where the operator put the template for CloudFormation to read. `null`: nowhere.',
    }),
  })
  .openapi('AwsTrust', {
    example: {
      external_id: 'nLx0rZT3vPDbSPB0tAKqgYlVOGSWOXKDHv3tqIBXCBs',
      account_id: '123456789012',
      trust_policy: { Version: '2012-10-17', Statement: [] },
      partition: 'aws',
      role_template: { AWSTemplateFormatVersion: '2010-09-09', Resources: {} },
      role_template_url: 'https://acme-templates.s3.eu-west-1.amazonaws.com/role.json',
    },
  });

/** Routes about the service's own identity at AWS. */
export function awsRoutes({ aws, vault, roleTemplateUrl }: RouteContext): Route[] {
  return [
    organizationRoute(
      {
        method: 'get',
        path: '/v1/{org}/aws',
        tag: 'Connect accounts',
        operation: 'readAwsTrust',
        summary: 'Read what a role at AWS has to trust',
        description:
          "For connectors that read or write as a role of the customer. The role's trust policy must name the account and require the external ID; a role that can be assumed with another external ID is not used.",
        access: { permission: 'input:read', session: 'allow' },
        params: z.object({ org: Id.openapi({ description: 'ID of the organization.' }) }),
        response: { status: 200, description: 'The account and the external ID.', schema: TrustBody },
      },
      async ({ organization }) => {
        const externalId = awsExternalId(vault, organization.id);
        const account = await aws?.account();
        return {
          status: 200,
          body: {
            external_id: externalId,
            account_id: account?.accountId ?? null,
            trust_policy: account
              ? trustPolicy(`arn:${account.partition}:iam::${account.accountId}:root`, externalId)
              : null,
            partition: account?.partition ?? null,
            role_template: roleTemplate,
            role_template_url: roleTemplateUrl ?? null,
          },
        };
      },
    ),
  ];
}

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_common-scenarios_third-party.html */
const trustPolicy = (principal: string, externalId: string): Record<string, unknown> => ({
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Principal: { AWS: principal },
      Action: 'sts:AssumeRole',
      Condition: { StringEquals: { 'sts:ExternalId': externalId } },
    },
  ],
});
