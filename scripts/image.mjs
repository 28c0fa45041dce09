/**
 * `node scripts/image.mjs <folder>`: lays out in an empty folder what a container image of the
 * service contains: the service and the packages that it uses, as built, and their dependencies in
 * the versions of the lock file. deploy/Dockerfile runs it.
 */
import { resolve } from 'node:path';
import { layOutImage } from './lib/image.mjs';
import { fail } from './lib/say.mjs';

const [folder] = process.argv.slice(2);
if (folder === undefined) fail('Usage: node scripts/image.mjs <empty folder>');
await layOutImage(resolve(folder));
