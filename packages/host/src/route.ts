import type { ServiceRequest } from '@connector-frame/core/connect';
import type { CheckedOptions } from './check-options.js';

/** Shared dependencies of the routes. */
export interface RouteTools<Context> {
  options: CheckedOptions<Context>;
  service: ServiceRequest;
}

/** A request; `context` is what the framework passed along with it. */
export interface Call<Context> {
  request: Request;
  url: URL;
  context: Context;
}

/** A route. The origin of a `POST` is checked before `handle` is called; `GET` never writes. */
export interface Route<Context> {
  method: 'GET' | 'POST';
  handle(call: Call<Context>): Response | Promise<Response>;
}
