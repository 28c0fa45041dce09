import { readFileSync } from 'node:fs';
import { format } from 'oxfmt';
import { root } from './root.mjs';

/**
 * Formats a text as `npm run format` formats the file. Resolves to the text.
 * @param path path of the file, which need not exist: its extension decides the language
 * @param options of oxfmt, besides those of the repository
 * @throws Error if the text cannot be parsed
 */
export async function formatted(path, text, options = {}) {
  const { printWidth, singleQuote, trailingComma } = JSON.parse(readFileSync(`${root}.oxfmtrc.json`, 'utf8'));
  const { code, errors } = await format(path, text, { printWidth, singleQuote, trailingComma, ...options });
  if (errors.length > 0) throw new Error(`${path} cannot be formatted: ${errors[0].message}`);
  return code;
}
