import { and, arrayContains, asc, count, eq, ilike, inArray, isNull, notExists, or, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Queries } from './database.js';
import { containing } from './name-search.js';
import type { Organization, Organizations, Page, Rows } from './store.js';
import { organizations as table } from './tables.js';

const teams = alias(table, 'teams');

const named = (search: string | undefined): SQL | undefined =>
  search === undefined ? undefined : ilike(table.name, containing(search));

export function createOrganizations(queries: Queries): Organizations {
  async function list(filter: SQL | undefined, { limit, offset }: Page): Promise<Rows<Organization>> {
    const rows = await queries
      .select()
      .from(table)
      .where(filter)
      .orderBy(asc(table.createdAt), asc(table.id))
      .limit(limit)
      .offset(offset);
    const [all] = await queries.select({ total: count() }).from(table).where(filter);
    return { rows, total: all?.total ?? 0 };
  }

  return {
    async insert(organization) {
      await queries.insert(table).values(organization);
    },

    async get(id) {
      const [row] = await queries.select().from(table).where(eq(table.id, id));
      return row;
    },

    teams: (parentId, page, nameSearch) => list(and(eq(table.parentId, parentId), named(nameSearch)), page),

    async teamIds(parentId) {
      const rows = await queries
        .select({ id: table.id })
        .from(table)
        .where(eq(table.parentId, parentId))
        .orderBy(asc(table.createdAt), asc(table.id));
      return rows.map(({ id }) => id);
    },

    async names(ids) {
      if (ids.length === 0) return new Map();
      const rows = await queries
        .select({ id: table.id, name: table.name })
        .from(table)
        .where(inArray(table.id, [...ids]));
      return new Map(rows.map(({ id, name }) => [id, name]));
    },

    family: (ids, page, { nameSearch, parentId, childless = false } = {}) =>
      list(
        and(
          or(inArray(table.id, [...ids]), inArray(table.parentId, [...ids])),
          named(nameSearch),
          parentId === undefined ? undefined : eq(table.parentId, parentId),
          childless ? notExists(queries.select().from(teams).where(eq(teams.parentId, table.id))) : undefined,
        ),
        page,
      ),

    async named(name, parentId) {
      const [row] = await queries
        .select()
        .from(table)
        .where(
          and(eq(table.name, name), parentId === undefined ? isNull(table.parentId) : eq(table.parentId, parentId)),
        )
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(1);
      return row;
    },

    async lock(id) {
      // Does not block rows that refer to the organization, unlike `FOR UPDATE`.
      const [row] = await queries.select().from(table).where(eq(table.id, id)).for('no key update');
      return row;
    },

    async update(id, change, at) {
      const [row] = await queries
        .update(table)
        .set({ ...change, updatedAt: at })
        .where(eq(table.id, id))
        .returning();
      return row;
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },

    async allowsOrigin(origin) {
      const rows = await queries
        .select({ id: table.id })
        .from(table)
        .where(arrayContains(table.allowedOrigins, [origin]))
        .limit(1);
      return rows.length > 0;
    },
  };
}
