import type { SqlFailure } from '../_shared/sql/session.js';

/**
 * Meaning of error numbers, those of Azure SQL included.
 * https://learn.microsoft.com/en-us/sql/relational-databases/errors-events/database-engine-events-and-errors
 * https://learn.microsoft.com/en-us/azure/azure-sql/database/troubleshoot-common-errors-issues
 */
const numbers: readonly (readonly [SqlFailure, readonly number[]])[] = [
  ['invalid_credentials', [18456, 18452, 18470, 18486, 18487, 18488]],
  ['no_database', [4060, 911, 916]],
  ['forbidden', [229, 230, 262, 297, 300, 2760, 1088, 40615]],
  ['no_table', [208]],
  ['no_column', [207]],
  ['read_only', [3906, 3908]],
  ['busy', [10928, 10929, 40501, 17809, 49918, 49919, 49920]],
  ['full', [1105, 9002, 701, 40544, 40551, 40552, 40553]],
  ['conflict', [1205, 1222, 3960]],
  ['stopping', [40613, 40197, 40143, 4221, 6005, 921, 922, 927]],
  ['already_there', [2627, 2601]],
  ['missing_value', [515]],
  ['constraint', [547, 513, 550, 50000]],
  ['too_large', [2628, 8152, 1946, 1701, 8023]],
  ['invalid_value', [220, 232, 235, 241, 242, 244, 245, 248, 257, 295, 296, 8114, 8115, 8169, 9420, 13609]],
];

const failures = new Map(numbers.flatMap(([failure, all]) => all.map((number) => [number, failure] as const)));

export const failureOfNumber = (number: number): SqlFailure => failures.get(number) ?? 'rejected';
