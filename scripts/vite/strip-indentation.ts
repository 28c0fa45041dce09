import type { Plugin } from 'vite';

/**
 * Strips the indentation from the templates in a folder. Whitespace between elements on separate
 * lines has no visible effect.
 */
export function stripIndentation(folder: string): Plugin {
  return {
    name: 'strip-indentation',
    transform: (code, id) => (id.startsWith(folder) ? { code: code.replaceAll(/\n\s+/g, '\n'), map: null } : undefined),
  };
}
