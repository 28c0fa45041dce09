import { fileURLToPath } from 'node:url';

/** The repository's folder, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** What the commands make for themselves; goes with node_modules. */
export const cache = `${root}node_modules/.cache/connector-frame`;
