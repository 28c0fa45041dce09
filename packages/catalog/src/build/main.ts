/** `npm run build`: checks the data files and icons of this package and writes them to `dist/`. */
import { fileURLToPath } from 'node:url';
import { compile } from './compile.js';
import { buildIcons } from './icons/build-icons.js';
import { describeProblem } from './problem.js';
import { readSources } from './read-sources.js';
import { writeCatalog } from './write-catalog.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = readSources(root);
const { types, problems } = compile(sources);
const { icons, problems: iconProblems } = await buildIcons(sources.icons);
const all = [...problems, ...iconProblems];

if (all.length > 0) {
  console.error(all.map(describeProblem).join('\n'));
  console.error(`\n${String(all.length)} to fix in packages/catalog. README.md there explains the format.`);
  process.exitCode = 1;
} else {
  writeCatalog(fileURLToPath(new URL('..', import.meta.url)), types, icons);
  console.log(`catalog: ${String(types.length)} types, ${String(icons.size)} icons`);
}
