import type { Shape } from '../template.js';

export const zoomActivityLogs: Shape = {
  documentation: 'https://developers.zoom.us/docs/api/meetings/#tag/reports/get/report/activities',
  choices: { type: ['Sign in', 'Sign out'], client: ['Browser', 'Mac', 'Windows', 'iOS'] },
  record: {
    email: '{person.email}',
    time: '{time.iso_seconds}',
    type: '{type}',
    ip_address: '{ip}',
    client_type: '{client}',
    version: '6.5.{int:0:9}.{int:1000:9999}',
  },
};
