/** Icons are displayed on host pages, so they may contain drawing elements only. */

const LICENSES = ['CC0-1.0', 'MIT'];
/** The icon is part of the response for its type. */
const MAX_BYTES = 12_288;

const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/<!|<\?/, 'a declaration'],
  [/<script/i, 'a script'],
  [/\son[a-z]+\s*=/i, 'an event handler'],
  [/<(?:foreignObject|iframe|image|audio|video|a|animate|set)\b/i, 'an element that is no drawing'],
  [/href\s*=\s*["'](?!#)/i, 'a reference to another file'],
  [/url\(\s*["']?(?!#)/i, 'a reference to another file'],
  [/@import|@font-face|expression\(/i, 'a style that loads something'],
  [/javascript:|data:/i, 'an address'],
];

/** Returns everything wrong with a finished icon, as messages. */
export function iconProblems(id: string, svg: string, license: string): string[] {
  const problems = FORBIDDEN.filter(([pattern]) => pattern.test(svg)).map(
    ([, what]) => `holds ${what}: draw it without`,
  );
  if (!LICENSES.includes(license))
    problems.push(`is under ${license}: only ${LICENSES.join(' and ')} icons may be used`);
  if (!/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/.test(svg)) problems.push('is no SVG document');
  const [, , width, height] = /viewBox="(\S+) (\S+) (\S+) (\S+)"/.exec(svg)?.slice(1) ?? [];
  if (width === undefined || width !== height) problems.push('is not square');
  for (const [, name] of svg.matchAll(/\s(?:id|class)="([^"]*)"/g))
    if (!name?.startsWith(`${id}-`)) problems.push(`has the id or class "${name ?? ''}": it must begin with "${id}-"`);
  const bytes = Buffer.byteLength(svg);
  if (bytes > MAX_BYTES)
    problems.push(`has ${String(bytes)} bytes: choose a simpler one, of ${String(MAX_BYTES)} at most`);
  return problems;
}
