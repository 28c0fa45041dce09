/**
 * Returns the origin of an AWS service in a region: `https://s3.eu-west-1.amazonaws.com`. Tests
 * replace it.
 */
export type AwsEndpoint = (service: string, region: string) => string;

/** The region becomes part of a host name. */
export const isRegion = (region: string): boolean => /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i.test(region);

/** https://docs.aws.amazon.com/general/latest/gr/rande.html */
export const awsEndpoint: AwsEndpoint = (service, region) =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
