import { writeFileSync } from 'node:fs';
import { it } from 'vitest';
import { embedded } from '../../../../test/support/databases.js';
import { writeElement } from '../../../../test/support/drop-in.js';
import { formAssets } from '../../../../test/support/form-assets.js';
import { createTestService } from '../../../../test/support/service.js';
import { loadDropIn } from '../embed/drop-in.js';
it('emits', async () => {
  const element = await writeElement();
  const [form, dropIn] = await Promise.all([formAssets(), loadDropIn(element.folder)]);
  const service = await createTestService({ database: await embedded().open(), form, dropIn });
  writeFileSync('/tmp/oa/now.json', await (await service.app.request('/openapi.json')).text());
  await service.close();
});
