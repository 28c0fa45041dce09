import type { Shape } from '../template.js';

export const slackAuditLogs: Shape = {
  documentation: 'https://docs.slack.dev/reference/audit-logs-api/',
  choices: {
    event: [
      'user_login',
      'user_logout',
      'file_downloaded',
      'private_channel_created',
      'app_installed',
      'role_change_to_admin',
    ],
  },
  record: {
    id: '{uuid}',
    date_create: '{time.seconds}',
    action: '{event}',
    actor: {
      type: 'user',
      user: { id: 'W0{person.number}EXAMPLE', name: '{person.name}', email: '{person.email}', team: 'T0EXAMPLE' },
    },
    entity: {
      type: 'user',
      user: { id: 'W0{person.number}EXAMPLE', name: '{person.name}', email: '{person.email}', team: 'T0EXAMPLE' },
    },
    context: {
      location: { type: 'workspace', id: 'T0EXAMPLE', name: 'Example', domain: 'example' },
      ua: '{agent}',
      session_id: '{int:100000000:999999999}',
      ip_address: '{ip}',
    },
  },
};
