import { join } from 'node:path';
import type { ConnectorContext, KeyValueReader } from '@connector-frame/engine/connector-api';
import type { KeyValues } from '../store/key-values.js';

/** What enrichments of an organization may look things up in. */
export type Lookups = Pick<ConnectorContext, 'keyValues' | 'lookupFolders'>;

export type LookupsOf = (organizationId: string) => Lookups;

export interface LookupsOptions {
  keyValues: Pick<KeyValues, 'get'>;
  /** Returns milliseconds since the epoch. */
  now: () => number;
  /**
   * The operator's folder of files. Its subfolder with the id of an organization is for that
   * organization alone. Absent: there is none.
   */
  folder?: string | undefined;
}

/** Returns what enrichments may use. They read only tables of their own organization. */
export function createLookups({ keyValues, now, folder }: LookupsOptions): LookupsOf {
  return (organizationId) => {
    const of = (outputId: string): KeyValueReader => ({
      async get(keys) {
        const found = await keyValues.get(organizationId, outputId, keys, new Date(now()));
        return new Map(Array.from(found, ([key, { value }]) => [key, value]));
      },
    });
    return {
      keyValues: { of },
      ...(folder !== undefined && { lookupFolders: [join(folder, organizationId), folder] }),
    };
  };
}
