import type { ServiceRequest } from '@connector-frame/core/connect';
import type { CheckedOptions } from './host-options.js';

/** What every route works with. */
export interface RouteTools<Context> {
  options: CheckedOptions<Context>;
  service: ServiceRequest;
}

/** One request on its way: `context` is what the framework gave beside it. */
export interface Call<Context> {
  request: Request;
  url: URL;
  context: Context;
}

/** One route. `POST` is checked against other origins before `answer` sees it; `GET` never writes. */
export interface Route<Context> {
  method: 'GET' | 'POST';
  answer(call: Call<Context>): Response | Promise<Response>;
}
