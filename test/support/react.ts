import { fileURLToPath } from 'node:url';

const installed = (folder: string) => fileURLToPath(new URL(`../react-18/node_modules/${folder}`, import.meta.url));

/** The React versions the adapter supports, as `alias` of `bundle`. */
export const reacts = [
  { react: '19', alias: {} },
  { react: '18', alias: { react: installed('react'), 'react-dom': installed('react-dom') } },
];
