import { readFile } from 'node:fs/promises';
import {
  parseKeyPath,
  systemClock,
  isRecord,
  type ConnectorCode,
  type Enrichment,
  type EnrichmentResult,
  type JsonValue,
  type KeyPath,
} from '@connector-frame/engine/connector-api';
import type { Reader, Response } from 'mmdb-lib';
import { OperatorFile } from '../_shared/lookup/operator-file.js';
import { readIp } from '../_shared/lookup/read-ip.js';
import { found, invalidLookup, readCommon, type FileContext } from '../_shared/lookup/settings.js';
import { createLookupTester } from '../_shared/lookup/test-lookup.js';
import { text, texts } from '../_shared/read.js';

/** The largest databases of MaxMind are smaller. The file is kept in memory once. */
const MAX_BYTES = 512 * 1024 * 1024;

interface DatabaseLookup {
  /** Name of the file. Absent: a setting has it. */
  file?: string;
  /** Pointer of the field that a failed test is about. */
  at: string;
  /** An entry, for a trial without a database. */
  example: JsonValue;
}

/** Creates the code of a type that looks up IP addresses in a file in MaxMind DB format. */
export function createDatabaseLookup({ file, at, example }: DatabaseLookup): ConnectorCode {
  const databaseOf = (settings: Record<string, unknown>, context: FileContext) =>
    new OperatorFile<Reader<Response>>({
      ...context,
      name: file ?? text(settings, 'database') ?? '',
      maxBytes: MAX_BYTES,
      reading: 'mmdb',
      read: async (path) => open(await readFile(path)),
    });
  return {
    createEnrichment({ settings }, context): Enrichment {
      const database = databaseOf(settings, context);
      const fields = texts(settings, 'fields').map((each) => parseKeyPath(each) ?? []);
      return {
        ...readCommon(settings, { join: 'ip_address_path', destination: 'destination_path' }),
        example,
        async open() {
          await database.content();
        },
        async lookUp(keys) {
          const reader = await database.content();
          const results = new Map<string, EnrichmentResult>();
          for (const key of keys) {
            const entry = entryOf(reader, key);
            if (entry !== undefined)
              results.set(key, found(fields.length === 0 ? entry : (partsAt(entry, fields) ?? {})));
          }
          return { results };
        },
        close: () => Promise.resolve(database.close()),
      };
    },
    testConnection: createLookupTester(async ({ settings }, { lookupFolders }) => {
      const database = databaseOf(settings, { clock: systemClock, ...(lookupFolders && { lookupFolders }) });
      const { databaseType, buildEpoch } = (await database.content()).metadata;
      database.close();
      return `${databaseType}, built on ${buildEpoch.toISOString().slice(0, 10)}`;
    }, at),
  };
}

async function open(bytes: Buffer): Promise<Reader<Response>> {
  const { Reader } = await import('mmdb-lib');
  try {
    return new Reader<Response>(bytes);
  } catch {
    throw invalidLookup('The file is no database in MaxMind DB format.');
  }
}

function entryOf(reader: Reader<Response>, key: string): JsonValue | undefined {
  const address = readIp(key);
  if (!address || (address.kind() === 'ipv6' && reader.metadata.ipVersion === 4)) return undefined;
  const entry: unknown = reader.get(address.toString());
  return entry === null || entry === undefined ? undefined : jsonOf(entry);
}

/** Converts what JSON does not have: large numbers to text, bytes to base64. */
function jsonOf(value: unknown): JsonValue {
  if (typeof value === 'bigint') return value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (Array.isArray(value)) return value.map(jsonOf);
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, jsonOf(inner)]));
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' ? value : null;
}

/** Returns the parts of an entry at these paths; `undefined` if it has none of them. */
function partsAt(entry: JsonValue, paths: readonly KeyPath[]): JsonValue | undefined {
  if (paths.some((path) => path.length === 0)) return entry;
  if (typeof entry !== 'object' || entry === null) return undefined;
  const parts = Object.entries(entry).flatMap(([key, value]): [string, JsonValue][] => {
    const inner = paths.filter(([first]) => first === key).map((path) => path.slice(1));
    const part = inner.length === 0 || value === undefined ? undefined : partsAt(value, inner);
    return part === undefined ? [] : [[key, part]];
  });
  if (parts.length === 0) return undefined;
  return Array.isArray(entry) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}
