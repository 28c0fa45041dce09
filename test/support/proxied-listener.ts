import { loadMigrations, migrate } from '../../packages/service/src/store/migrate.js';
import { postgresDatabase } from '../../packages/service/src/store/database.js';
import { startDatabaseProxy, type DatabaseProxy } from './database-proxy.js';
import { postgresql } from './databases.js';
import { startIngestListener, type IngestListener } from './ingest-listener.js';

export interface ProxiedListener {
  proxy: DatabaseProxy;
  listener: IngestListener;
  /** Makes the database respond again, and forgets what the listener has received. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the ingest listener on a real PostgreSQL behind a proxy that can take it away. */
export async function startProxiedListener(): Promise<ProxiedListener> {
  const databases = postgresql();
  const proxy = await startDatabaseProxy(await databases.url());
  const limits = { connect: 2_000, statement: 2_000, response: 2_500 };
  const database = postgresDatabase({ connectionString: proxy.url }, () => undefined, limits);
  await migrate(database, await loadMigrations());
  const listener = await startIngestListener(database);
  return {
    proxy,
    listener,
    async reset() {
      await proxy.restore();
      listener.reset();
      // Ends the wait between two attempts to reach the database.
      listener.service.clock.advance(2_000);
    },
    async close() {
      await proxy.restore();
      await listener.close();
      await proxy.close();
      await databases.close();
    },
  };
}
