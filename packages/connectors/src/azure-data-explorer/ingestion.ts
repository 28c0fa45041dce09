import type { Clock, Egress, TesterConfig } from '@connector-frame/engine/connector-api';
import { createApiClient, type ApiClient } from '../_shared/api/api-client.js';
import { toConnectorError } from '../_shared/api/api-error.js';
import { unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text } from '../_shared/read.js';
import { entraAuthentication, withTenant } from '../azure/entra.js';

const CLUSTER = '/settings/cluster_uri';
const MAX_RESPONSE = 1024 * 1024;
/** Milliseconds until the resources are requested again: their signatures expire. */
const REFRESH_MS = 3_600_000;
/** Hosts of Azure Storage that may be sent records. */
const STORAGE =
  /^[a-z0-9-]+\.(?:[a-z0-9]+\.)?(?:blob|queue)\.(?:core\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn)|storage\.azure\.net)$/;

/** Where the service takes records. The URLs contain signatures, and so are secrets. */
export interface IngestionResources {
  /** Containers for blobs. */
  containers: readonly URL[];
  /** Queues for messages about blobs. */
  queues: readonly URL[];
  /** Identifies the app in messages. */
  authorization: string;
}

/**
 * The ingestion service of a cluster.
 * https://learn.microsoft.com/kusto/api/netfx/kusto-ingest-client-rest
 */
export class IngestionService {
  readonly subject: Subject = {
    product: 'Azure Data Explorer',
    address: CLUSTER,
    credential: '/secrets/client_secret',
  };
  readonly #client: ApiClient;
  readonly #url: URL;
  readonly #clock: Clock;
  #cached: { at: number; resources: IngestionResources } | undefined;

  /** @throws ConnectorError `invalid_config`, permanent */
  constructor(config: TesterConfig, egress: Egress, clock: Clock) {
    const cluster = clusterOf(config);
    const ingestion = new URL(cluster);
    if (!ingestion.hostname.startsWith('ingest-')) ingestion.hostname = `ingest-${ingestion.hostname}`;
    this.#url = new URL('/v1/rest/mgmt', ingestion);
    this.#clock = clock;
    this.#client = createApiClient(entraAuthentication(`${cluster.origin}/.default`), withTenant(config), {
      subject: this.subject,
      egress,
      clock,
      base: ingestion,
    });
  }

  /** Returns where records are sent. @throws ConnectorError */
  async resources(signal: AbortSignal): Promise<IngestionResources> {
    const now = this.#clock.now();
    if (this.#cached && now - this.#cached.at < REFRESH_MS) return this.#cached.resources;
    const rows = await this.#command('.get ingestion resources', signal);
    const urls = (kind: string): URL[] =>
      rows.flatMap(([name, root]) => (name === kind && root !== undefined ? this.#storage(root) : []));
    const [[authorization] = []] = await this.#command('.get kusto identity token', signal);
    const resources = { containers: urls('TempStorage'), queues: urls('SecuredReadyForAggregationQueue') };
    if (authorization === undefined || resources.containers.length === 0 || resources.queues.length === 0)
      throw toConnectorError(unexpected(this.subject));
    this.#cached = { at: now, resources: { ...resources, authorization } };
    return this.#cached.resources;
  }

  /** Requests the resources again the next time. */
  forget(): void {
    this.#cached = undefined;
  }

  /** Runs a management command and returns the texts of its first table. */
  async #command(csl: string, signal: AbortSignal): Promise<(string | undefined)[][]> {
    const request = { url: this.#url, body: { csl, db: '' } };
    const body = await this.#client.json(request, { signal, maxBytes: MAX_RESPONSE, repeatable: true }, explain);
    const tables = at(body, 'Tables');
    const rows = at(Array.isArray(tables) ? tables[0] : undefined, 'Rows');
    if (!Array.isArray(rows)) throw toConnectorError(unexpected(this.subject));
    return rows.map((row: unknown) =>
      Array.isArray(row) ? row.map((cell: unknown) => (typeof cell === 'string' ? cell : undefined)) : [],
    );
  }

  /** @throws ConnectorError for a host that is not one of Azure Storage */
  #storage(root: string): URL[] {
    const url = URL.canParse(root) ? new URL(root) : undefined;
    if (url?.protocol === 'https:' && url.port === '' && url.username === '' && STORAGE.test(url.hostname))
      return [url];
    throw toConnectorError(
      failed(
        'unexpected_answer',
        'Azure Data Explorer named a host that is not one of Azure Storage. Nothing was sent there.',
      ),
    );
  }
}

function clusterOf({ settings }: TesterConfig): URL {
  const uri = text(settings, 'cluster_uri') ?? '';
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url?.protocol !== 'https:')
    throw toConnectorError(failed('invalid_config', 'This is not a valid address.', { at: CLUSTER }));
  return url;
}

function explain(status: number): Failure | undefined {
  if (status !== 403) return undefined;
  return failed('forbidden', 'The app may not add records.', {
    hint: 'It needs the role Ingestor on the database.',
    at: '/secrets/client_id',
  });
}
