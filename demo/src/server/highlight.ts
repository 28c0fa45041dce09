import { html, type Html } from './html.js';

const comment = /<!--[\s\S]*?-->|\/\*[\s\S]*?\*\/|(?<![:\w])\/\/[^\n]*/;
const string = /"[^"\n]*"|'[^'\n]*'|`[^`]*`/;
const tag = /(?:(?<![\w)])<|<\/)[A-Za-z][\w.-]*/;
const name = /(?<=\s)[@:]?[A-Za-z-][\w:-]*(?==["{])|--[\w-]+(?=:)/;
const word =
  /\b(?:import|from|export|default|function|return|const|let|if|else|type|interface|async|await|new|void)\b(?!:)/;

const kinds = { comment, string, tag, name, word };
const all = new RegExp(
  Object.entries(kinds)
    .map(([kind, { source }]) => `(?<${kind}>${source})`)
    .join('|'),
  'g',
);

/**
 * Highlights comments, strings, tags, names and keywords. Script keywords are not highlighted in
 * HTML files.
 */
export function highlight(code: string, file: string): Html[] {
  const isScript = !file.endsWith('.html');
  const out: Html[] = [];
  let end = 0;
  for (const match of code.matchAll(all)) {
    const [kind, text = ''] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? [];
    if (kind === undefined || (kind === 'word' && !isScript)) continue;
    out.push(html`${code.slice(end, match.index)}<span class="code-${kind}">${text}</span>`);
    end = match.index + text.length;
  }
  out.push(html`${code.slice(end)}`);
  return out;
}
