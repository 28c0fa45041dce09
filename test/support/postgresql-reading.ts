import { loadCatalog } from '@connector-frame/catalog';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { parseExact } from '../../packages/connectors/src/_shared/exact-json.js';
import { createPostgresqlInput } from '../../packages/connectors/src/postgresql/input.js';
import { createEgress } from '../../packages/engine/src/egress/index.js';
import type { DataRecord, JsonValue } from '../../packages/engine/src/connector-api/record.js';
import { systemClock } from '../../packages/engine/src/connector-api/clock.js';
import type { PageInput } from '../../packages/engine/src/connector-api/index.js';
import { startPostgres, type Postgres } from './postgres.js';

/** A server for the tests of a file, with a new database for each test. */
export class Databases {
  #server: Postgres | undefined;
  #admin: Client | undefined;
  #url = new URL('postgres://nowhere');
  readonly #opened: (() => Promise<unknown>)[] = [];

  constructor() {
    beforeAll(async () => {
      // Autovacuum's transactions would briefly hold back rows.
      this.#server = await startPostgres({ settings: { autovacuum: 'off' } });
    });
    afterAll(() => this.#server?.close());
    beforeEach(async () => {
      await this.#closeAll();
      this.#url = new URL((await this.#server?.createDatabase()) ?? '');
      this.#admin = await this.connect();
    });
    afterAll(() => this.#closeAll());
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((close) => close()));
  }

  /** Runs a query as the superuser. */
  query = (text: string): Promise<{ rows: unknown[] }> => {
    if (!this.#admin) throw new Error('There is a database in tests only.');
    return this.#admin.query(text);
  };

  /** Opens another superuser connection. */
  async connect(): Promise<Client> {
    const client = new Client({ connectionString: this.#url.href });
    // Tests terminate connections from the server side.
    client.on('error', () => undefined);
    await client.connect();
    this.#opened.push(() => client.end().catch(() => undefined));
    return client;
  }

  /** Opens an input on this database. */
  open(settings: Record<string, unknown> = {}): PageInput {
    const type = loadCatalog().get('input', 'postgresql');
    if (!type) throw new Error('no type');
    const input = createPostgresqlInput(
      {
        settings: {
          host: this.#url.hostname,
          port: Number(this.#url.port),
          database: this.#url.pathname.slice(1),
          username: 'postgres',
          ssl_mode: { mode: 'disable' },
          ...settings,
        },
        secrets: { password: this.#url.password },
      },
      { type, egress: createEgress({ allow: ['127.0.0.0/8'] }), clock: systemClock },
    );
    this.#opened.push(async () => input.close?.());
    return input;
  }
}

/** Reads as the engine does: commits the cursor of each delivered page and resumes from it. */
export class Reader {
  cursor: JsonValue | undefined;
  pages = 0;
  readonly records: DataRecord[] = [];
  constructor(public input: PageInput) {}

  async pass(limit = Infinity): Promise<DataRecord[]> {
    const fresh: DataRecord[] = [];
    for await (const { records, cursor } of this.input.pages(this.cursor, new AbortController().signal)) {
      fresh.push(...records);
      this.records.push(...records);
      this.cursor = parseExact(JSON.stringify(cursor));
      this.pages += 1;
      if (this.pages >= limit) break;
    }
    return fresh;
  }

  ids(): unknown[] {
    return this.records.map((record) => record['id']);
  }
}
