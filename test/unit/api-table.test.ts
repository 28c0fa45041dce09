import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { anyDatabase } from '../support/databases.js';
import { createTestService } from '../support/service.js';

interface Script {
  page: string;
  apiTable(document: unknown): Promise<string>;
}

test('the table of the public API matches the service', async () => {
  const { page, apiTable }: Script = await import(new URL('../../scripts/lib/api-table.mjs', import.meta.url).href);
  const service = await createTestService({ database: await anyDatabase().open() });
  const response = await service.app.request('/openapi.json');
  const stale = readFileSync(page, 'utf8') !== (await apiTable(await response.json()));
  await service.close();
  expect(stale, 'docs/public-api.md is outdated; run `npm run api-table`').toBe(false);
});
