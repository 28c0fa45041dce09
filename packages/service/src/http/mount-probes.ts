import type { OpenAPIHono } from '@hono/zod-openapi';
import { ApiError, notFound } from '../api-error.js';
import type { Observer } from './observe.js';
import { respond } from './respond.js';
import type { Route } from './route.js';

/**
 * Registers public routes that take no parameters and change nothing, in a process that serves nothing
 * else: every other path is 404.
 * @throws TypeError for a route that is not public
 */
export function mountProbes(app: OpenAPIHono, routes: readonly Route[], observe: Observer): void {
  for (const route of routes) {
    const { spec } = route;
    if (!('public' in spec.access)) throw new TypeError(`The route ${spec.method} ${spec.path} is not public.`);
    app.on(spec.method, spec.path, async (c) => {
      const request = observe(c, spec.path);
      const headers = { 'Request-Id': request.id };
      try {
        const result = await route.handle({
          c,
          params: undefined,
          query: undefined,
          body: undefined,
          principal: undefined,
          organization: undefined,
          author: undefined,
          commit: () => Promise.reject(new TypeError(`${spec.operation} changes nothing.`)),
          requestId: request.id,
        });
        const isResponse = result instanceof Response;
        return request.done(isResponse ? result : respond(result.status, result.body, headers, result.headers));
      } catch (error) {
        const rejection = error instanceof ApiError ? error : request.failed(error);
        const { status, options } = rejection;
        return request.done(respond(status, rejection.toJSON(), headers, options.headers), rejection);
      }
    });
  }
  app.notFound((c) => {
    const request = observe(c, 'unknown');
    const rejection = notFound();
    return request.done(respond(rejection.status, rejection.toJSON(), { 'Request-Id': request.id }), rejection);
  });
}
