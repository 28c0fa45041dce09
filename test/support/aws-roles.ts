import type { AwsRoles } from '../../packages/engine/src/connector-api/index.js';

/**
 * The service's own identity at AWS, which may assume every role. Its keys are those of the example in
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
 */
export const awsRoles: AwsRoles = {
  externalId: 'cf-4711',
  assume: () =>
    Promise.resolve({
      accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY',
      sessionToken: 'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQW',
    }),
};
