import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Folder whose code resolves Next.js. Only the long run installs it. */
export const nextRoom = fileURLToPath(new URL('../programs/next', import.meta.url));

/** Returns the path of Next.js's program. */
export const nextProgram = (): string => createRequire(`${nextRoom}/package.json`).resolve('next/dist/bin/next');
