import type { Shape } from '../template.js';

/** The account ID used in AWS's documentation. */
const ACCOUNT = '123456789012';

export const cloudTrail: Shape = {
  documentation:
    'https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html',
  choices: {
    region: ['us-east-1', 'eu-west-1', 'ap-southeast-2'],
    call: [
      {
        source: 'signin.amazonaws.com',
        name: 'ConsoleLogin',
        type: 'AwsConsoleSignIn',
        read: false,
        request: null,
        response: { ConsoleLogin: 'Success' },
      },
      {
        source: 's3.amazonaws.com',
        name: 'PutBucketPolicy',
        type: 'AwsApiCall',
        read: false,
        request: { bucketName: 'example-bucket' },
        response: null,
      },
      {
        source: 'ec2.amazonaws.com',
        name: 'DescribeInstances',
        type: 'AwsApiCall',
        read: true,
        request: { instancesSet: {} },
        response: null,
      },
      {
        source: 'iam.amazonaws.com',
        name: 'CreateAccessKey',
        type: 'AwsApiCall',
        read: false,
        request: { userName: '{person.login}' },
        response: { accessKey: { userName: '{person.login}', status: 'Active' } },
      },
      {
        source: 'sts.amazonaws.com',
        name: 'AssumeRole',
        type: 'AwsApiCall',
        read: true,
        request: { roleArn: `arn:aws:iam::${ACCOUNT}:role/example` },
        response: null,
      },
      {
        source: 'kms.amazonaws.com',
        name: 'Decrypt',
        type: 'AwsApiCall',
        read: true,
        request: { encryptionAlgorithm: 'SYMMETRIC_DEFAULT' },
        response: null,
      },
    ],
  },
  record: {
    eventVersion: '1.11',
    userIdentity: {
      type: 'IAMUser',
      principalId: 'AIDA{capitals:17}',
      arn: `arn:aws:iam::${ACCOUNT}:user/{person.login}`,
      accountId: ACCOUNT,
      userName: '{person.login}',
    },
    eventTime: '{time.iso_seconds}',
    eventSource: '{call.source}',
    eventName: '{call.name}',
    awsRegion: '{region}',
    sourceIPAddress: '{ip}',
    userAgent: '{agent}',
    requestParameters: '{call.request}',
    responseElements: '{call.response}',
    requestID: '{uuid#2}',
    eventID: '{uuid}',
    readOnly: '{call.read}',
    eventType: '{call.type}',
    managementEvent: true,
    recipientAccountId: ACCOUNT,
    eventCategory: 'Management',
    tlsDetails: {
      tlsVersion: 'TLSv1.3',
      cipherSuite: 'TLS_AES_128_GCM_SHA256',
      clientProvidedHostHeader: '{call.source}',
    },
  },
};

export const guardDuty: Shape = {
  documentation: 'https://docs.aws.amazon.com/guardduty/latest/APIReference/API_Finding.html',
  choices: {
    finding: [
      {
        type: 'UnauthorizedAccess:EC2/SSHBruteForce',
        severity: 2,
        title: 'SSH brute force attacks against an instance.',
      },
      {
        type: 'Recon:EC2/PortProbeUnprotectedPort',
        severity: 2,
        title: 'An unprotected port of an instance is being probed.',
      },
      {
        type: 'CryptoCurrency:EC2/BitcoinTool.B!DNS',
        severity: 8,
        title: 'An instance asks for a name tied to mining.',
      },
      {
        type: 'Backdoor:EC2/C&CActivity.B!DNS',
        severity: 8,
        title: 'An instance asks for a name tied to a command server.',
      },
    ],
  },
  record: {
    schemaVersion: '2.0',
    accountId: ACCOUNT,
    region: 'us-east-1',
    partition: 'aws',
    id: '{hex:32}',
    arn: `arn:aws:guardduty:us-east-1:${ACCOUNT}:detector/12abc34d567e8fa901bc2d34e56789f0/finding/{hex:32}`,
    type: '{finding.type}',
    resource: {
      resourceType: 'Instance',
      instanceDetails: {
        instanceId: 'i-{hex:17}',
        instanceType: 't3.medium',
        availabilityZone: 'us-east-1a',
        platform: null,
        tags: [{ key: 'Name', value: '{host}' }],
      },
    },
    service: {
      serviceName: 'guardduty',
      detectorId: '12abc34d567e8fa901bc2d34e56789f0',
      action: {
        actionType: 'NETWORK_CONNECTION',
        networkConnectionAction: {
          connectionDirection: 'INBOUND',
          protocol: 'TCP',
          blocked: false,
          localPortDetails: { port: 22, portName: 'SSH' },
          remotePortDetails: { port: '{int:1024:65535}', portName: 'Unknown' },
          remoteIpDetails: { ipAddressV4: '{ip}', country: { countryName: 'Example Country' } },
        },
      },
      resourceRole: 'TARGET',
      eventFirstSeen: '{time.iso:-900}',
      eventLastSeen: '{time.iso}',
      archived: false,
      count: '{int:1:40}',
    },
    severity: '{finding.severity}',
    createdAt: '{time.iso:-600}',
    updatedAt: '{time.iso}',
    title: '{finding.title}',
    description: '{finding.title}',
  },
};
