import { systemClock, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { fileSettings } from '../_shared/objects/file-settings.js';
import { createObjectInput } from '../_shared/objects/object-input.js';
import { DriveStore } from './drive-store.js';

export const googleDriveFilesInput: ConnectorCode = {
  testConnection: createApiTester({ product: 'Google Drive' }, async (config, { egress, signal }) => {
    const { files } = await new DriveStore(config, egress, systemClock).page(undefined, 1, signal);
    return passed(files.length > 0 ? 'Listed the folder: there are files' : 'Listed the folder: no file there yet');
  }),
  createInput: (config, { egress, clock }) =>
    createObjectInput(new DriveStore(config, egress, clock), fileSettings, clock),
};
