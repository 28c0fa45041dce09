import { fileURLToPath } from 'node:url';
import { bundle } from '../support/bundle.js';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const react18 = (name: string): string => file(`../react-18/node_modules/${name}`);

/** An adapter to put a form on a page. */
export interface Adapter {
  /** The page's script. */
  script: string;
  /** Packages to replace, by name. */
  alias?: Record<string, string>;
  /** The Trusted Types policies that a page must allow for it. */
  trustedTypes: string;
  /**
   * Whether the iframe is in a shadow root. Firefox 153 reloads such an iframe even if it is moved
   * with `moveBefore`.
   */
  inShadow: boolean;
}

export const adapters = {
  // No policy: the function writes no markup.
  function: { script: 'function.ts', trustedTypes: `'none'`, inShadow: false },
  element: { script: 'element.ts', trustedTypes: 'lit-html', inShadow: true },
  'React 18': {
    script: 'react.tsx',
    alias: { react: react18('react'), 'react-dom': react18('react-dom') },
    trustedTypes: 'lit-html',
    inShadow: true,
  },
  'React 19': { script: 'react.tsx', trustedTypes: 'lit-html', inShadow: true },
  // Vue creates its own policy.
  Vue: { script: 'vue.ts', trustedTypes: 'lit-html vue', inShadow: true },
} satisfies Record<string, Adapter>;

/** Bundles the page's script as a host's build would. */
export function bundleAdapter({ script, alias }: Adapter): Promise<string> {
  const code = [`./observe.ts`, `./${script}`].map((path) => `import ${JSON.stringify(file(path))};`).join('\n');
  return bundle(code, { ...(alias && { alias }) });
}
