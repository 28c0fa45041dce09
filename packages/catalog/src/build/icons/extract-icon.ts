import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { own } from '../../validate/objects.js';

/** Source of a mark: an icon package or `marks`, and the name of the icon in it. */
export interface IconSource {
  from: string;
  name: string;
}

export interface ExtractedIcon {
  svg: string;
  /** SPDX identifier of the icon's own license. */
  license: string;
  /** Brand color of a single-color mark. */
  color?: string;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const readPackageFile = (path: string): string => readFileSync(fileURLToPath(import.meta.resolve(path)), 'utf8');

async function fromSimpleIcons(name: string): Promise<ExtractedIcon | undefined> {
  const icons: Record<string, unknown> = { ...(await import('simple-icons')) };
  const icon = Object.values(icons).find((candidate) => own(candidate, 'slug') === name);
  const [svg, hex] = [textOf(own(icon, 'svg')), textOf(own(icon, 'hex'))];
  if (svg === undefined || hex === undefined) return undefined;
  // The package is CC0-1.0; icons under another license declare it.
  return { svg, color: `#${hex.toLowerCase()}`, license: textOf(own(own(icon, 'license'), 'type')) ?? 'CC0-1.0' };
}

function fromIconify(from: string, name: string): ExtractedIcon | undefined {
  const set: unknown = JSON.parse(readPackageFile(`${from}/icons.json`));
  const info: unknown = JSON.parse(readPackageFile(`${from}/info.json`));
  const icon = own(own(set, 'icons'), name);
  const body = textOf(own(icon, 'body'));
  if (body === undefined) return undefined;
  const size = (key: string): string => String(Number(own(icon, key) ?? own(set, key) ?? 0));
  const viewBox = `${size('left')} ${size('top')} ${size('width')} ${size('height')}`;
  return {
    svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}">${body}</svg>`,
    license: textOf(own(own(info, 'license'), 'spdx')) ?? 'unknown',
  };
}

/** Files of this repository. Each begins with a comment that has its license and its source. */
const MARKS = new URL('../../../marks/', import.meta.url);

function fromMarks(name: string): ExtractedIcon | undefined {
  const file = new URL(`${name}.svg`, MARKS);
  if (!/^[a-z0-9-]+$/.test(name) || !existsSync(file)) return undefined;
  const [, license = 'unknown', svg = ''] =
    /^<!-- ([\w.-]+), [^\n]* -->\n(.*)$/s.exec(readFileSync(file, 'utf8')) ?? [];
  return { svg: svg.trim(), license };
}

/** Reads a mark from its package. Resolves to undefined if it does not exist. */
export async function extractIcon({ from, name }: IconSource): Promise<ExtractedIcon | undefined> {
  if (from === 'simple-icons') return fromSimpleIcons(name);
  if (from === 'marks') return fromMarks(name);
  return from.startsWith('@iconify-json/') ? fromIconify(from, name) : undefined;
}
