import { ConnectorError, type ConnectorCode } from '@connector-frame/engine/connector-api';

const INTERVAL_MS = 10_000;

/** Reads the changes that were made through the API of the service in the organization. */
export const monadApiActivityInput: ConnectorCode = {
  createInput: (_config, { activity }) => {
    if (!activity) throw new ConnectorError('not_enabled', 'No audit log is available here.', 'permanent');
    return {
      kind: 'pages',
      intervalMs: INTERVAL_MS,
      readsAhead: true,
      async *pages(from, signal) {
        for (let cursor = from; !signal.aborted;) {
          const found = await activity.after(cursor);
          // The first page has no records: it commits where the pipeline begins.
          if (cursor !== undefined && found.records.length === 0) return;
          ({ cursor } = found);
          yield found;
        }
      },
    };
  },
};
