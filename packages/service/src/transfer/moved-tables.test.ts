import { getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { expect, it } from 'vitest';
import * as tables from '../store/tables.js';
import { MOVED_TABLES } from './moved-tables.js';

it('decides for every table whether its rows are moved', () => {
  const names = Object.values(tables)
    .filter((table) => is(table, PgTable))
    .map((table) => getTableName(table));
  expect(Object.keys(MOVED_TABLES)).toEqual(names.toSorted());
});
