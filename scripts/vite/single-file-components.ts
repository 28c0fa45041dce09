import { createHash } from 'node:crypto';
import { transformWithOxc, type Plugin } from 'vite';
import { compileScript, parse } from 'vue/compiler-sfc';

/**
 * Compiles Vue single-file components, script and template into one function, with Vue's own
 * compiler. The demo needs no other feature of a Vue plugin.
 */
export function singleFileComponents(): Plugin {
  return {
    name: 'single-file-components',
    enforce: 'pre',
    async transform(code, file) {
      if (!file.endsWith('.vue')) return undefined;
      const { descriptor, errors } = parse(code, { filename: file });
      if (errors[0]) throw errors[0];
      const id = createHash('sha256').update(file).digest('hex').slice(0, 8);
      const { content } = compileScript(descriptor, {
        id,
        inlineTemplate: true,
        isProd: true,
        templateOptions: { compilerOptions: { isCustomElement: (tag) => tag.includes('-') } },
      });
      return transformWithOxc(content, `${file}.ts`);
    },
  };
}
