import { systemClock, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { fileSettings } from '../_shared/objects/file-settings.js';
import { createObjectInput } from '../_shared/objects/object-input.js';
import { SharePointStore } from './sharepoint-store.js';

export const sharePointFilesInput: ConnectorCode = {
  testConnection: createApiTester({ product: 'Microsoft SharePoint' }, async (config, { egress, signal }) => {
    const { length } = await new SharePointStore(config, egress, systemClock).drives(signal);
    return passed(`Found ${length === 1 ? '1 document library' : `${length} document libraries`}`);
  }),
  createInput: (config, { egress, clock }) =>
    createObjectInput(new SharePointStore(config, egress, clock), fileSettings, clock),
};
