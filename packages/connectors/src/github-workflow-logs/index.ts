import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createWorkflowLogReceiver } from './receiver.js';

/** Receives GitHub's word that a workflow run is over, and fetches the run's logs. */
export const githubWorkflowLogsInput: ConnectorCode = {
  createInput: () => ({ kind: 'push' }),
  createReceiver: createWorkflowLogReceiver,
};
