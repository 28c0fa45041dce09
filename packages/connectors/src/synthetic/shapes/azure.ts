import type { Shape } from '../template.js';

const named = (value: string) => ({ value, localizedValue: value });

export const azureActivityLogs: Shape = {
  documentation: 'https://learn.microsoft.com/rest/api/monitor/activity-logs/list',
  choices: {
    operation: [
      { name: 'Microsoft.Compute/virtualMachines/write', provider: 'Microsoft.Compute', kind: 'virtualMachines' },
      { name: 'Microsoft.Compute/virtualMachines/delete', provider: 'Microsoft.Compute', kind: 'virtualMachines' },
      {
        name: 'Microsoft.Network/networkSecurityGroups/securityRules/write',
        provider: 'Microsoft.Network',
        kind: 'networkSecurityGroups',
      },
      { name: 'Microsoft.KeyVault/vaults/secrets/read', provider: 'Microsoft.KeyVault', kind: 'vaults' },
    ],
    status: ['Succeeded', 'Succeeded', 'Started', 'Failed'],
  },
  record: {
    caller: '{person.email}',
    channels: 'Operation',
    claims: { ipaddr: '{ip}', name: '{person.name}' },
    correlationId: '{uuid#2}',
    description: '',
    eventDataId: '{uuid}',
    eventName: named('EndRequest'),
    category: named('Administrative'),
    httpRequest: { clientRequestId: '{uuid#3}', clientIpAddress: '{ip}', method: 'PUT' },
    id: '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/example/events/{uuid}/ticks/{digits:18}',
    level: 'Informational',
    resourceGroupName: 'example',
    resourceProviderName: named('{operation.provider}'),
    resourceId:
      '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/example/providers/{operation.provider}/{operation.kind}/{host}',
    resourceType: named('{operation.provider}/{operation.kind}'),
    operationId: '{uuid#2}',
    operationName: named('{operation.name}'),
    properties: { statusCode: 'OK', serviceRequestId: null },
    status: named('{status}'),
    subStatus: named(''),
    eventTimestamp: '{time.iso}',
    submissionTimestamp: '{time.iso:20}',
    subscriptionId: '00000000-0000-0000-0000-000000000000',
    tenantId: '11111111-1111-1111-1111-111111111111',
  },
};
