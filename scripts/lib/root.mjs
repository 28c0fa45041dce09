import { fileURLToPath } from 'node:url';

/** Path of the repository, with a trailing slash. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Cache folder of these commands. It is removed together with node_modules. */
export const cache = `${root}node_modules/.cache/connector-frame`;
