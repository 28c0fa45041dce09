import { ConnectorError, type CreateInput } from '@connector-frame/engine/connector-api';

/**
 * Reads what happens to the alerts of the organization. Each page has one record, so that a record
 * that is delivered again after a crash has the same id, whatever has happened since.
 */
export const createMonadAlertsInput: CreateInput = (_config, { alerts }) => {
  if (!alerts) throw new ConnectorError('not_enabled', 'No alert rules are evaluated here.', 'permanent');
  return {
    kind: 'pages',
    readsAhead: true,
    async *pages(from, signal) {
      let cursor = from ?? (await alerts.start());
      // Commits where the pipeline begins, and shows that the input works before the first alert.
      yield { records: [], cursor };
      while (!signal.aborted) {
        const found = await alerts.after(cursor);
        for (const next of found) {
          yield { records: [next.record], cursor: next.cursor };
          ({ cursor } = next);
        }
        if (found.length === 0) await alerts.changed(signal);
      }
    },
  };
};
