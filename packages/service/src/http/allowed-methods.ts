import type { Route } from './route.js';

/**
 * Creates a function that returns the methods of all routes with a path, in upper case. Empty for an
 * unknown path.
 */
export function createAllowedMethods(routes: readonly Route[]): (path: string) => readonly string[] {
  const patterns = routes.map(({ spec: { method, path } }) => ({
    pattern: new RegExp(
      `^${path
        .replace(/\/$/, '')
        .replaceAll('.', '\\.')
        .replaceAll(/\{\w+\}/g, '[^/]+')}/?$`,
    ),
    // Hono answers HEAD with the handler of GET.
    methods: method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  }));
  return (path) => {
    const allowed = patterns.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods);
    return [...new Set(allowed)].sort();
  };
}
