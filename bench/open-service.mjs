import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '@connector-frame/catalog';
import {
  bootstrap,
  createLog,
  createMetrics,
  createRateLimits,
  createReadiness,
  databaseChecks,
  openCore,
  readEnv,
  systemClock,
} from '@connector-frame/service';

/**
 * Opens a service on an embedded database in a new folder and returns its dependencies, a parent
 * organization with two teams, an API key and the database. Rate limits are off, and egress is rejected.
 */
export async function openService() {
  const folder = mkdtempSync(join(tmpdir(), 'connector-frame-bench-'));
  const log = createLog('silent');
  const core = await openCore(readEnv({ DATA_DIR: folder }), systemClock, log);
  const made = await bootstrap(
    { store: core.store, secrets: core.vault },
    { organization: 'Bench', teams: ['team', 'other'] },
  );
  const closed = () => Promise.reject(new Error('The bench opens no connection.'));
  return {
    apiKey: made.apiKey,
    parent: made.organizationId,
    team: made.teams.team,
    other: made.teams.other,
    database: core.database,
    deps: {
      store: core.store,
      secrets: core.vault,
      sessions: core.sessions,
      userTokens: core.userTokens,
      catalog: loadCatalog(),
      connectors: () => ({}),
      egress: { fetch: closed, connect: closed },
      limits: createRateLimits({ address: null, key: null, organization: null, session: null, test: null }),
      readiness: createReadiness(databaseChecks(core.store, core.vault, core.schemaVersion)),
      settings: { publicUrl: 'http://localhost:4000', allowedParentOrigins: ['http://localhost:3000'] },
      clock: systemClock,
      log,
      metrics: createMetrics(),
    },
    async close() {
      await core.database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
