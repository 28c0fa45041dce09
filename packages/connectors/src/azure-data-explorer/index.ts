import { systemClock, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { IngestionService } from './ingestion.js';
import { createDataExplorerOutput } from './output.js';

export const azureDataExplorerOutput: ConnectorCode = {
  // An app that may only add records can't look up the table.
  testConnection: createApiTester(
    { product: 'Azure Data Explorer', address: '/settings/cluster_uri' },
    async (config, { egress, signal }) => {
      await new IngestionService(config, egress, systemClock).resources(signal);
      return passed('The app may add records. The first delivery shows whether the table exists');
    },
  ),
  createOutput: createDataExplorerOutput,
};
