import type { Route } from './serve.js';

/** A style sheet that a frame of another origin may load. */
export const styleRoute = (css: string): Route => ({
  body: css,
  headers: {
    'content-type': 'text/css',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  },
});
