import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { loadDropIn, type DropIn } from './drop-in.js';
import { loadFormAssets, type FormAssets } from './form-assets.js';

/** Files for browsers that other packages built. */
export interface BuiltFiles {
  form: FormAssets;
  dropIn: DropIn;
}

const require = createRequire(import.meta.url);

const folderOf = (name: string): string => dirname(require.resolve(`${name}/package.json`));

/**
 * Loads the form and the drop-in.
 * @param formFolder folder of another form
 * @throws Error if one of them is not built
 */
export async function loadBuiltFiles(formFolder?: string): Promise<BuiltFiles> {
  return {
    form: await loadFormAssets(formFolder ?? join(folderOf('@connector-frame/form'), 'dist')),
    dropIn: await loadDropIn(folderOf('@connector-frame/element')),
  };
}
