import { systemClock, type ConnectorCode, type Tester, type TesterConfig } from '@connector-frame/engine/connector-api';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { createBigQueryInput, newRowsQuery } from './input.js';
import { BigQuery } from './query-job.js';
import { createScheduledBigQueryInput } from './scheduled-input.js';
import { sourceOf } from './sql.js';

/** Creates a tester that lets BigQuery check the query. Nothing is read or billed. */
const tester = (sqlOf: (config: TesterConfig) => string): Tester =>
  createApiTester({ product: 'BigQuery' }, async (config, { egress, signal }) => {
    await new BigQuery(config, egress, systemClock).check(sqlOf(config), [], signal);
    return passed('BigQuery accepted the service account and the query');
  });

export const bigQueryInput: ConnectorCode = {
  testConnection: tester((config) => newRowsQuery(config, undefined).sql),
  createInput: createBigQueryInput,
};
export const bigQueryScheduledInput: ConnectorCode = {
  testConnection: tester(({ settings }) => `SELECT * FROM ${sourceOf(settings)}`),
  createInput: createScheduledBigQueryInput,
};
