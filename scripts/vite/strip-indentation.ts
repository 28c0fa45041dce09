import type { Plugin } from 'vite';

const strip = (code: string): string =>
  code
    .replaceAll(/\n\s+/g, '\n')
    .replaceAll(/\n(?=[@?.]?[\w-]+=["$])/g, ' ')
    .replaceAll(/\n(?=\/?>)/g, '');

/**
 * Strips the indentation from the templates in a folder. Whitespace between elements on separate
 * lines has no visible effect. Attributes on separate lines are joined by a space, which compresses
 * better than a line break.
 */
export function stripIndentation(folder: string): Plugin {
  return {
    name: 'strip-indentation',
    transform: (code, id) => (id.startsWith(folder) ? { code: strip(code), map: null } : undefined),
  };
}
