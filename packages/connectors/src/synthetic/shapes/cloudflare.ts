import type { Shape } from '../template.js';

export const cloudflareAuditLogs: Shape = {
  documentation: 'https://developers.cloudflare.com/api/resources/accounts/subresources/logs/subresources/audit/',
  choices: {
    change: [
      { action: 'create', product: 'dns_records', method: 'POST', uri: '/client/v4/zones/{hex:32#2}/dns_records' },
      { action: 'update', product: 'firewall', method: 'PATCH', uri: '/client/v4/zones/{hex:32#2}/firewall/rules' },
      {
        action: 'delete',
        product: 'workers',
        method: 'DELETE',
        uri: '/client/v4/accounts/{hex:32#3}/workers/scripts/example',
      },
      { action: 'view', product: 'members', method: 'GET', uri: '/client/v4/accounts/{hex:32#3}/members' },
    ],
    result: ['success', 'success', 'success', 'failure'],
  },
  record: {
    id: '{uuid}',
    account: { id: '{hex:32#3}', name: 'Example' },
    action: {
      type: '{change.action}',
      result: '{result}',
      description: '{change.action} {change.product}',
      time: '{time.iso}',
    },
    actor: {
      id: '{hex:32}',
      type: 'user',
      context: 'dash',
      email: '{person.email}',
      ip_address: '{ip}',
      token_id: null,
      token_name: null,
    },
    raw: {
      cf_ray_id: '{hex:16}',
      method: '{change.method}',
      status_code: 200,
      uri: '{change.uri}',
      user_agent: '{agent}',
    },
    resource: { id: '{hex:32#4}', product: '{change.product}', type: '{change.product}', scope: 'accounts' },
    zone: { id: '{hex:32#2}', name: 'example.com' },
  },
};
