import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { operationsOf, type Operation } from '../../../../test/support/operations.js';
import { createTestService, type TestService } from '../../../../test/support/service.js';
import { defaultRoles, describePermission, permissions, permissionSets } from '../permissions.js';

const databases = anyDatabase();
let service: TestService;

beforeAll(async () => {
  service = await createTestService({ database: await databases.open() });
});
afterAll(async () => {
  await service.store.close();
  await databases.close();
});

const mark = (holds: boolean): string => (holds ? 'yes' : '');
const setsWith = (slug: (typeof permissions)[number]): string =>
  Object.entries(permissionSets)
    .filter(([, slugs]) => slugs.some((each) => each === slug))
    .map(([name]) => `\`${name}\``)
    .join(', ');

function pageOf(operations: readonly Operation[]): string {
  const routes = operations.filter(({ isPublic }) => !isPublic);
  return [
    '# Permissions',
    '',
    '<!-- Generated from the routes by `npm run permission-table`. -->',
    '',
    'A user and an API key have the permissions of their role; a key can have permissions of its own',
    'instead. A call that lacks one is 403, and `additional_details.missing_permissions` names it. The',
    "[service's README](../packages/service/README.md#keys-and-roles) describes keys and roles.",
    '',
    '## All permissions',
    '',
    'The default roles are Admin, Contributor and Reader; Admin has every permission. The last column',
    'names the set that contains the permission, for keys that are created with `permissions`.',
    '',
    '| Permission | Allows | Contributor | Reader | Set |',
    '| --- | --- | --- | --- | --- |',
    ...permissions.map((slug) => {
      const [contributor, reader] = [defaultRoles.contributor, defaultRoles.reader].map((role) =>
        mark(role.permissions.includes(slug)),
      );
      return `| \`${slug}\` | ${describePermission(slug)} | ${contributor} | ${reader} | ${setsWith(slug)} |`;
    }),
    '',
    '## Routes',
    '',
    'A route with several permissions needs all of them. `operator` means the API key of the',
    '[first organization](../packages/service/README.md#the-first-organization). Sessions of the form',
    'have no permissions: the last column says which routes they may call.',
    '',
    '| Route | Permission | Session |',
    '| --- | --- | --- |',
    ...routes.map(({ method, path, permissions: needed, session, isOperator }) => {
      const needs = [...needed.map((slug) => `\`${slug}\``), ...(isOperator ? ['operator'] : [])];
      return `| \`${method} ${path}\` | ${needs.join(', ') || 'any'} | ${mark(session === 'allow')} |`;
    }),
    '',
  ].join('\n');
}

interface Script {
  formatted: (path: string, text: string) => Promise<string>;
}

it('docs/permissions.md lists the permissions of every route', async () => {
  const page = fileURLToPath(new URL('../../../../docs/permissions.md', import.meta.url));
  const { formatted }: Script = await import(new URL('../../../../scripts/lib/format.mjs', import.meta.url).href);
  const text = await formatted(page, pageOf(await operationsOf(service.app)));
  await expect(text, 'stale: npm run permission-table').toMatchFileSnapshot(page);
});
