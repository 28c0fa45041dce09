/**
 * `npm run api-table`: writes docs/public-api.md from the last build of the service.
 */
import { writeFileSync } from 'node:fs';
import { createApp } from '@connector-frame/service';
import { openService } from '../bench/open-service.mjs';
import { apiTable, page } from './lib/api-table.mjs';

const service = await openService();
try {
  const response = await createApp(service.deps).request('/openapi.json');
  writeFileSync(page, await apiTable(await response.json()));
  console.log(page);
} finally {
  await service.close();
}
