import type { ServiceRequest } from '@connector-frame/core/connect';
import type { CheckedOptions } from './host-options.js';

/** Dependencies of the routes. */
export interface RouteTools<Context> {
  options: CheckedOptions<Context>;
  service: ServiceRequest;
}

/** A request and its `context`, the framework's own request object. */
export interface Call<Context> {
  request: Request;
  url: URL;
  context: Context;
}

/** A route. `POST` requests pass the origin check before `answer` is called; `GET` never writes. */
export interface Route<Context> {
  method: 'GET' | 'POST';
  answer(call: Call<Context>): Response | Promise<Response>;
}
