import { isPlain, own } from '../../validate/objects.js';
import type { Problem } from '../problem.js';
import type { SourceFile } from '../read-sources.js';
import { iconProblems } from './check-icon.js';
import { extractIcon } from './extract-icon.js';
import { finishIcon } from './finish-icon.js';

export interface BuiltIcons {
  /** SVG text by name. */
  icons: Map<string, string>;
  problems: Problem[];
}

/** Maximum aspect ratio. A wider mark is a wordmark, which is illegible on a tile of 40 pixels. */
const MAX_RATIO = 2;

const ratioOf = (svg: string): number => {
  const [width = 1, height = 1] = /viewBox="\S+ \S+ (\S+) (\S+)"/.exec(svg)?.slice(1).map(Number) ?? [];
  return Math.max(width / height, height / width);
};

/** Builds every icon listed in `icons.json` from its package. */
export async function buildIcons({ file, value }: SourceFile): Promise<BuiltIcons> {
  const icons = new Map<string, string>();
  const problems: Problem[] = [];
  for (const [id, source] of Object.entries(isPlain(value) ? value : {})) {
    const add = (message: string): void => void problems.push({ file, pointer: `/${id}`, message });
    const [from, name] = [own(source, 'from'), own(source, 'name')];
    if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(id)) add('key must be lower-case letters, digits and "-"');
    else if (typeof from !== 'string' || typeof name !== 'string') add('must be { "from": package, "name": icon }');
    else {
      const extracted = await extractIcon({ from, name });
      if (!extracted) {
        add(`${from} has no icon "${name}": look it up in the package, or leave the icon out and a monogram is shown`);
        continue;
      }
      if (ratioOf(extracted.svg) > MAX_RATIO) add(`"${name}" is a word, not a mark: choose the square one`);
      const svg = finishIcon(id, extracted);
      for (const problem of iconProblems(id, svg, extracted.license)) add(problem);
      icons.set(id, svg);
    }
  }
  return { icons, problems };
}
