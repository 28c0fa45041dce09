import type { SqlFailure } from '../_shared/sql/session.js';

/**
 * Meaning of error numbers, those of MariaDB included.
 * https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
 * https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference
 */
const numbers: readonly (readonly [SqlFailure, readonly number[]])[] = [
  ['invalid_credentials', [1045, 1698, 1862, 1820, 3118, 3955]],
  ['no_database', [1044, 1049]],
  ['forbidden', [1142, 1143, 1227, 1370, 1410, 1251, 1130]],
  ['no_table', [1146, 1051]],
  ['no_column', [1054]],
  ['read_only', [1290, 1836, 1792, 3100]],
  ['busy', [1040, 1203, 1226, 1041]],
  ['full', [1021, 1037, 1038, 1114, 3019]],
  ['conflict', [1205, 1213, 1020]],
  ['timeout', [3024, 1969, 1317]],
  ['stopping', [1053, 1152, 1158, 1159, 1160, 1161, 1927, 4031]],
  ['already_there', [1062, 1586]],
  ['missing_value', [1048, 1364, 1263]],
  ['no_such_reference', [1216, 1452]],
  ['constraint', [3819, 4025, 1369]],
  ['too_large', [1153, 1406, 1118, 1071]],
  [
    'invalid_value',
    [1264, 1265, 1292, 1366, 1411, 1416, 1690, 3140, 3141, 3143, 3144, 3156, 1644, 1300, 3854, 1441, 1367],
  ],
];

const failures = new Map(numbers.flatMap(([failure, all]) => all.map((number) => [number, failure] as const)));

export const failureOfNumber = (number: number): SqlFailure => failures.get(number) ?? 'rejected';
