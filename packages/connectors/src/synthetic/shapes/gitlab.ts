import type { Shape } from '../template.js';

export const gitLabAuditEvents: Shape = {
  documentation: 'https://docs.gitlab.com/api/audit_events/',
  choices: {
    event: [
      { name: 'user_created', type: 'User', message: 'User was created' },
      {
        name: 'project_visibility_level_updated',
        type: 'Project',
        message: 'Changed visibility from private to internal',
      },
      { name: 'member_created', type: 'Group', message: 'Membership created' },
      { name: 'personal_access_token_created', type: 'User', message: 'Created personal access token' },
    ],
  },
  record: {
    id: '{sequence}',
    author_id: '{person.number}',
    entity_id: '{int:1:40}',
    entity_type: '{event.type}',
    event_name: '{event.name}',
    details: {
      custom_message: '{event.message}',
      author_name: '{person.name}',
      author_email: '{person.email}',
      target_id: '{int:1:40}',
      target_type: '{event.type}',
      target_details: 'example-org/web',
      ip_address: '{ip}',
      entity_path: 'example-org/web',
    },
    created_at: '{time.iso}',
  },
};
