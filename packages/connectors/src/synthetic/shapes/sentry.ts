import type { Shape } from '../template.js';

export const sentryAuditLogs: Shape = {
  documentation: 'https://docs.sentry.io/organization/membership/#audit-log',
  choices: {
    event: [
      { name: 'member.invite', note: 'invited member {person.email}' },
      { name: 'project.create', note: 'created project web' },
      { name: 'api-key.create', note: 'added api key Example' },
      { name: 'sso.enable', note: 'enabled sso (example)' },
    ],
  },
  record: {
    id: '{sequence}',
    actor: { id: '{person.number}', name: '{person.name}', email: '{person.email}', username: '{person.email}' },
    event: '{event.name}',
    ipAddress: '{ip}',
    note: '{event.note}',
    targetObject: '{int:1:400}',
    targetUser: null,
    data: { name: 'Example' },
    dateCreated: '{time.iso}',
  },
};
