import type { Route } from './serve.js';

/** Returns a route for a style sheet that a frame on another origin may load. */
export const styleRoute = (css: string): Route => ({
  body: css,
  headers: {
    'content-type': 'text/css',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  },
});
