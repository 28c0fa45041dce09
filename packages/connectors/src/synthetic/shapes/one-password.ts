import type { Shape } from '../template.js';

export const onePasswordEvents: Shape = {
  documentation: 'https://developer.1password.com/docs/events-api/reference/',
  choices: {
    attempt: [
      { category: 'success', type: 'credentials_ok' },
      { category: 'success', type: 'mfa_ok' },
      { category: 'credentials_failed', type: 'password_secret_bad' },
      { category: 'firewall_failed', type: 'anonymous_blocked' },
    ],
  },
  record: {
    uuid: '{capitals:26}',
    session_uuid: '{capitals:26#2}',
    timestamp: '{time.iso}',
    category: '{attempt.category}',
    type: '{attempt.type}',
    country: 'US',
    details: null,
    target_user: { uuid: '{capitals:26#3}', name: '{person.name}', email: '{person.email}' },
    client: {
      app_name: '1Password Browser Extension',
      app_version: '81101026',
      platform_name: 'Chrome',
      platform_version: '140.0',
      os_name: 'MacOSX',
      os_version: '15.6',
      ip_address: '{ip}',
    },
    location: { country: 'US', region: 'Example', city: 'Exampleville', latitude: 0, longitude: 0 },
  },
};
