/** Statements that the template has parameters for, as `setup.aws_role` of a connector type may have. */
const STATEMENTS = [1, 2, 3] as const;

const words = (number: number) => ({
  actions: `Actions${number}`,
  resources: `Resources${number}`,
});
const isUsed = (number: number): string => `HasStatement${number}`;

/** Rejects what is left of a placeholder such as `<bucket>`. */
const RESOURCE = String.raw`^(\*|arn:[^<>,\s]+)?$`;

const parametersOf = (number: number): [string, object][] => {
  const { actions, resources } = words(number);
  const rest = number === 1 ? {} : { Default: '' };
  return [
    [
      actions,
      {
        Type: 'CommaDelimitedList',
        Description: 'What the role may do: actions such as s3:GetObject.',
        AllowedPattern: String.raw`^([a-z0-9-]+:[A-Za-z0-9]+)?$`,
        ...rest,
      },
    ],
    [
      resources,
      {
        Type: 'CommaDelimitedList',
        Description: 'ARNs of the resources that the role may do it with.',
        AllowedPattern: RESOURCE,
        ...rest,
      },
    ],
  ];
};

const statementOf = (number: number): object => {
  const { actions, resources } = words(number);
  const statement = { Effect: 'Allow', Action: { Ref: actions }, Resource: { Ref: resources } };
  return number === 1 ? statement : { 'Fn::If': [isUsed(number), statement, { Ref: 'AWS::NoValue' }] };
};

/**
 * CloudFormation template of a role that the service may assume. It has no name, so CloudFormation
 * only asks for `CAPABILITY_IAM`.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-iam-role.html
 */
export const roleTemplate = {
  AWSTemplateFormatVersion: '2010-09-09',
  Description: 'Role that a connector service assumes. It trusts one AWS account, with an external ID.',
  Parameters: {
    AccountId: {
      Type: 'String',
      Description: 'AWS account of the service.',
      AllowedPattern: String.raw`^\d{12}$`,
    },
    ExternalId: {
      Type: 'String',
      Description: 'External ID of your organization, which the service shows.',
      AllowedPattern: String.raw`^[\w+=,.@:/-]{2,1224}$`,
    },
    ...Object.fromEntries(STATEMENTS.flatMap(parametersOf)),
  },
  Conditions: Object.fromEntries(
    STATEMENTS.slice(1).map((number) => [
      isUsed(number),
      { 'Fn::Not': [{ 'Fn::Equals': [{ 'Fn::Join': ['', { Ref: words(number).actions }] }, ''] }] },
    ]),
  ),
  Resources: {
    Role: {
      Type: 'AWS::IAM::Role',
      Properties: {
        AssumeRolePolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              Effect: 'Allow',
              Principal: { AWS: { 'Fn::Sub': 'arn:${AWS::Partition}:iam::${AccountId}:root' } },
              Action: 'sts:AssumeRole',
              Condition: { StringEquals: { 'sts:ExternalId': { Ref: 'ExternalId' } } },
            },
          ],
        },
        Policies: [
          {
            PolicyName: 'connector',
            PolicyDocument: { Version: '2012-10-17', Statement: STATEMENTS.map(statementOf) },
          },
        ],
      },
    },
  },
  Outputs: {
    RoleArn: {
      Description: 'Enter this in the connector.',
      Value: { 'Fn::GetAtt': ['Role', 'Arn'] },
    },
  },
};
