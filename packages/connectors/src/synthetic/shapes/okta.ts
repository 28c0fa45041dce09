import type { Shape } from '../template.js';

const okta = [
  { type: 'user.session.start', message: 'User login to Okta', severity: 'INFO', result: 'SUCCESS', reason: null },
  {
    type: 'user.session.start',
    message: 'User login to Okta',
    severity: 'WARN',
    result: 'FAILURE',
    reason: 'INVALID_CREDENTIALS',
  },
  {
    type: 'user.authentication.auth_via_mfa',
    message: 'Authentication of user via MFA',
    severity: 'INFO',
    result: 'SUCCESS',
    reason: null,
  },
  {
    type: 'user.authentication.sso',
    message: 'User single sign on to app',
    severity: 'INFO',
    result: 'SUCCESS',
    reason: null,
  },
  {
    type: 'user.account.lock',
    message: 'Max sign in attempts exceeded',
    severity: 'DEBUG',
    result: 'FAILURE',
    reason: 'LOCKED_OUT',
  },
  {
    type: 'group.user_membership.add',
    message: 'Add user to group membership',
    severity: 'INFO',
    result: 'SUCCESS',
    reason: null,
  },
];

export const oktaSystemLog: Shape = {
  documentation: 'https://developer.okta.com/docs/api/openapi/okta-management/management/tag/SystemLog/',
  choices: { event: okta, platform: ['Mac OS X', 'Windows 10', 'iOS'] },
  record: {
    uuid: '{uuid}',
    published: '{time.iso}',
    eventType: '{event.type}',
    version: '0',
    severity: '{event.severity}',
    displayMessage: '{event.message}',
    actor: {
      id: '00u{person.number}{hex:13}',
      type: 'User',
      alternateId: '{person.email}',
      displayName: '{person.name}',
      detailEntry: null,
    },
    client: {
      userAgent: { rawUserAgent: '{agent}', os: '{platform}', browser: 'CHROME' },
      zone: 'null',
      device: 'Computer',
      id: null,
      ipAddress: '{ip}',
      geographicalContext: {
        city: 'Exampleville',
        state: null,
        country: 'Example Country',
        postalCode: null,
        geolocation: { lat: 0, lon: 0 },
      },
    },
    authenticationContext: {
      authenticationProvider: null,
      credentialProvider: null,
      credentialType: null,
      issuer: null,
      interface: null,
      authenticationStep: 0,
      externalSessionId: '102{letters:22}',
    },
    outcome: { result: '{event.result}', reason: '{event.reason}' },
    target: [
      {
        id: '0oa{letters:17}',
        type: 'AppInstance',
        alternateId: 'Example App',
        displayName: 'Example App',
        detailEntry: null,
      },
    ],
    transaction: { type: 'WEB', id: '{capitals:27}', detail: {} },
    debugContext: { debugData: { requestUri: '/idp/idx/identify', threatSuspected: 'false' } },
    legacyEventType: null,
    securityContext: { asNumber: 64496, asOrg: 'example', isp: 'example', domain: 'example.com', isProxy: false },
    request: { ipChain: [{ ip: '{ip}', geographicalContext: null, version: 'V4', source: null }] },
  },
};

export const oktaUsers: Shape = {
  documentation: 'https://developer.okta.com/docs/api/openapi/okta-management/management/tag/User/',
  choices: { status: ['ACTIVE', 'ACTIVE', 'ACTIVE', 'PROVISIONED', 'LOCKED_OUT', 'SUSPENDED'] },
  record: {
    id: '00u{letters:17}',
    status: '{status}',
    created: '{time.iso:-31536000}',
    activated: '{time.iso:-31535000}',
    statusChanged: '{time.iso:-86400}',
    lastLogin: '{time.iso:-3600}',
    lastUpdated: '{time.iso}',
    passwordChanged: '{time.iso:-2592000}',
    type: { id: 'oty{letters:17}' },
    profile: {
      firstName: '{person.first}',
      lastName: 'Example',
      login: '{person.email}',
      email: '{person.email}',
      mobilePhone: null,
      secondEmail: null,
    },
    credentials: { provider: { type: 'OKTA', name: 'OKTA' } },
  },
};
