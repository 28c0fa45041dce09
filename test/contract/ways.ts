import { fileURLToPath } from 'node:url';
import { bundle } from '../support/bundle.js';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const react18 = (name: string): string => file(`../react-18/node_modules/${name}`);

/** A way to put a form on a page. */
export interface WayIn {
  /** The page's script. */
  script: string;
  /** Other packages than those that the code names. */
  alias?: Record<string, string>;
  /** What a page under Trusted Types has to allow for it. */
  trustedTypes: string;
  /** The iframe stands in a shadow root: Firefox 153 loads such a one anew even where `moveBefore` moves it. */
  inShadow: boolean;
}

export const ways = {
  // No policy at all: the function writes no markup.
  function: { script: 'function.ts', trustedTypes: `'none'`, inShadow: false },
  element: { script: 'element.ts', trustedTypes: 'lit-html', inShadow: true },
  'React 18': {
    script: 'react.tsx',
    alias: { react: react18('react'), 'react-dom': react18('react-dom') },
    trustedTypes: 'lit-html',
    inShadow: true,
  },
  'React 19': { script: 'react.tsx', trustedTypes: 'lit-html', inShadow: true },
  // Vue makes a policy of its own.
  Vue: { script: 'vue.ts', trustedTypes: 'lit-html vue', inShadow: true },
} satisfies Record<string, WayIn>;

/** The page's script as a host's build would make it. */
export function bundleWay({ script, alias }: WayIn): Promise<string> {
  const code = [`./observe.ts`, `./${script}`].map((path) => `import ${JSON.stringify(file(path))};`).join('\n');
  return bundle(code, { ...(alias && { alias }) });
}
