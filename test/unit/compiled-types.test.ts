import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { codeOf } from '../support/guides.js';
import { dailyPart } from '../support/long.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs the compiler on a project. Returns its messages. */
async function compile(project: string): Promise<string> {
  const words = ['node_modules/typescript/bin/tsc', '--pretty', 'false', '-p', project];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

/**
 * Projects that can't be compiled together with the other tests; they use the built types. Vue's
 * file for the latest Vue is among the other tests. A run of the compiler takes seconds, so the short
 * run has a part each day.
 */
const projects = [
  ['with Vue 3.4 the types say the same', 'vue-3.4.json'],
  ['ids and fields are checked once a project lets the compiler know the catalog', 'connector-types.json'],
] as const;
test.each(dailyPart(projects, 2))('%s', async (_, project) => {
  expect(await compile(`test/types/${project}`)).toBe('');
});

/** A correct and a misspelled `typeId`, as a reader of the guide would write them. */
const uses = {
  react: `
    import { ConnectorFrame } from '@connector-frame/react';
    const host = { kind: 'input', hostUrl: '/api', tenantId: 'acme' } as const;
    export const right = <ConnectorFrame {...host} typeId="okta-systemlog" />;
    // @ts-expect-error -- misspelled
    export const wrong = <ConnectorFrame {...host} typeId="okta-sistemlog" />;`,
  vue: `
    import { h } from 'vue';
    import { ConnectorFrame } from '@connector-frame/vue';
    h(ConnectorFrame, { kind: 'input', typeId: 'okta-systemlog' });
    // @ts-expect-error -- misspelled
    h(ConnectorFrame, { kind: 'input', typeId: 'okta-sistemlog' });`,
  script: `
    const form = document.createElement('connector-frame');
    form.typeId = 'okta-systemlog';
    // @ts-expect-error -- misspelled
    form.typeId = 'okta-sistemlog';
    export {};`,
};

test.each(dailyPart(Object.entries(uses), 3))(
  'with the line of the %s guide, a misspelled type ID does not compile',

  async (guide, use) => {
    const folder = await mkdtemp(join(root, 'test/types/guide-'));
    try {
      await writeFile(join(folder, 'connector-types.ts'), await codeOf(guide, 'connector-types.ts'));
      await writeFile(join(folder, 'use.tsx'), use);
      const config = { extends: '../connector-types.json', compilerOptions: { jsx: 'react-jsx' } };
      await writeFile(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ ...config, files: ['connector-types.ts', 'use.tsx'] }),
      );
      expect(await compile(folder)).toBe('');
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
