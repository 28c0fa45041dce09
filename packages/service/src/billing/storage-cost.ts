import type { StorageTypeCost } from '../store/storage-type-costs.js';
import type { ReadTables } from '../store/store.js';
import { minuteOf, type Period } from '../usage/periods.js';

/** Bytes of a gigabyte, as vendors of storage count. */
export const GB = 1_000_000_000;

/** What organizations stored at destinations of one type, and what it cost. */
export interface StorageCost {
  type: string;
  /** The cost that the organization has set; absent if it has not. */
  cost: StorageTypeCost | undefined;
  /** Written to the destinations. */
  egressBytes: number;
  /** The same records as they were before conditions and transforms. */
  unfilteredBytes: number;
  pipelines: number;
  /** Billionths of a US dollar. */
  postFilter: bigint;
  preFilter: bigint;
}

export interface StorageFilter {
  pipelineId?: string | undefined;
  /** Types of outputs. Default: all. */
  types?: readonly string[] | undefined;
}

type StorageTables = Pick<ReadTables, 'usage' | 'storageTypeCosts'>;

/** Returns what an organization stored in a period, by type of destination, in alphabetical order. */
export async function storageCosts(
  { usage, storageTypeCosts }: StorageTables,
  organizationId: string,
  { start, end }: Period,
  { pipelineId, types }: StorageFilter = {},
): Promise<StorageCost[]> {
  const costs = new Map((await storageTypeCosts.of(organizationId)).map((cost) => [cost.storageType, cost]));
  const filter = {
    organizationIds: [organizationId],
    pipelineId,
    ...(types && { types }),
    componentType: 'output',
    from: minuteOf(start),
    to: Math.ceil(end / 60_000),
  } as const;
  return (await usage.sum(filter, ['type'])).map(({ type, egressBytes, unfilteredBytes, pipelines }) => {
    const cost = costs.get(type);
    const price = BigInt(cost?.nanodollarsPerGb ?? 0);
    const priceOf = (bytes: number): bigint => (BigInt(bytes) * price + BigInt(GB / 2)) / BigInt(GB);
    return {
      type,
      cost,
      egressBytes,
      unfilteredBytes,
      pipelines,
      postFilter: priceOf(egressBytes),
      preFilter: priceOf(unfilteredBytes),
    };
  });
}

/** Converts billionths of a US dollar. */
export const inDollars = (nanodollars: bigint): number => Number(nanodollars) / 1e9;
