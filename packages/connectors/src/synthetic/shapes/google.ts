import type { Shape } from '../template.js';

const documentation = 'https://developers.google.com/workspace/admin/reports/reference/rest/v1/activities/list';
const actor = { callerType: 'USER', email: '{person.email}', profileId: '1{digits:20}' };

export const googleAdminActivity: Shape = {
  documentation,
  choices: {
    event: [
      { type: 'USER_SETTINGS', name: 'CREATE_USER', parameters: [{ name: 'USER_EMAIL', value: '{person.email}' }] },
      { type: 'USER_SETTINGS', name: 'CHANGE_PASSWORD', parameters: [{ name: 'USER_EMAIL', value: '{person.email}' }] },
      {
        type: 'GROUP_SETTINGS',
        name: 'ADD_GROUP_MEMBER',
        parameters: [{ name: 'GROUP_EMAIL', value: 'team@example.com' }],
      },
      {
        type: 'DELEGATED_ADMIN_SETTINGS',
        name: 'ASSIGN_ROLE',
        parameters: [{ name: 'ROLE_NAME', value: '_SEED_ADMIN_ROLE' }],
      },
    ],
  },
  record: {
    kind: 'admin#reports#activity',
    id: { time: '{time.iso}', uniqueQualifier: '-{digits:19#2}', applicationName: 'admin', customerId: 'C0example' },
    etag: '"{letters:43}"',
    actor,
    ipAddress: '{ip}',
    events: ['{event}'],
  },
};

const login = (name: string, challenge: string) => ({
  type: 'login',
  name,
  parameters: [
    { name: 'login_type', value: 'google_password' },
    { name: 'login_challenge_method', multiValue: [challenge] },
    { name: 'is_suspicious', boolValue: false },
  ],
});

export const googleLoginActivity: Shape = {
  documentation,
  choices: {
    event: [
      login('login_success', 'password'),
      login('login_success', 'google_authenticator'),
      login('login_failure', 'password'),
      login('login_challenge', 'security_key'),
      login('logout', 'none'),
    ],
  },
  record: {
    kind: 'admin#reports#activity',
    id: { time: '{time.iso}', uniqueQualifier: '{digits:18#2}', applicationName: 'login', customerId: 'C0example' },
    etag: '"{letters:43}"',
    actor,
    ipAddress: '{ip}',
    events: ['{event}'],
  },
};
