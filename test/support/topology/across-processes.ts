import { postgresql } from '../databases.js';
import { startTopology, type Topology } from './topology.js';

/** Variables of a fixture that each process has its own of. */
const OWN = new Set(['SERVICE_PORT', 'HOST_PORT', 'DATA_DIR', 'LOG_LEVEL']);

/**
 * Starts one replica and two workers on a new PostgreSQL database, and a proxy in front of the replica and
 * of another one, which the fixture starts with `topology.own`.
 * @param environment of the fixture's service. The proxy listens on `SERVICE_PORT`.
 */
export async function startProcesses(environment: Readonly<Record<string, string>>): Promise<Topology> {
  const port = Number(environment['SERVICE_PORT'] ?? 0);
  return startTopology({
    databaseUrl: await postgresql().url(),
    replicas: 1,
    workers: 2,
    ownReplica: true,
    environment: Object.fromEntries(Object.entries(environment).filter(([name]) => !OWN.has(name))),
    ...(port > 0 && { port }),
  });
}
