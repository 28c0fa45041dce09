import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { describeError } from '../describe-error.js';
import { PAGE } from '../http/openapi-components.js';
import { publicRoute, type Route, type RouteResponse, type RouteSpec } from '../http/route.js';
import type { SignInContext } from '../sign-in/create-sign-in.js';
import type { Flow } from '../sign-in/flows.js';
import { pageHeaders, render, type Page } from '../sign-in/pages/html.js';
import { problemPage, type Here } from '../sign-in/pages/sign-in-pages.js';
import { challenge, SignInProblem } from '../sign-in/sign-in-problem.js';

/** A response with a page. */
export async function respondWith(
  page: Page,
  { status = 200, cookie, headers = {} }: { status?: number; cookie?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  const all = {
    ...pageHeaders(),
    ...(status === 401 && challenge),
    ...headers,
    ...(cookie !== undefined && { 'Set-Cookie': cookie }),
  };
  return new Response(await render(page), { status, headers: all });
}

/**
 * Returns a redirect to another page of the sign-in.
 * @param cookie value of `Set-Cookie`
 */
export const redirectTo = (location: string, cookie?: string, status: 303 | 307 = 303): Response =>
  new Response(null, {
    status,
    headers: {
      Location: location,
      'Cache-Control': 'no-store',
      // The address that the browser comes from may contain the token of a link.
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      ...(cookie !== undefined && { 'Set-Cookie': cookie }),
    },
  });

/** What pages of a flow need. */
export const hereOf = ({ base }: SignInContext, { csrf }: Flow, problem?: string): Here => ({
  base,
  csrf,
  ...(problem !== undefined && { problem }),
});

export const cookiesOf = (c: Context): string | undefined => c.req.header('cookie');

/** The value in each form that shows that a page of this sign-in sent it. */
export const Csrf = z.string().max(100);
export const formExample = { csrf: 'from-the-page' };
export const PasswordForm = z
  .object({ csrf: Csrf, password: z.string().max(1_000) })
  .openapi('PasswordForm', { example: { ...formExample, password: 'correct horse battery staple' } });

/** Returns the flow of a form. @throws SignInProblem `expired` if no page of the flow sent it */
export function formOf({ flows }: SignInContext, c: Context, csrf: string): Flow {
  const flow = flows.require(cookiesOf(c));
  flows.requireForm(flow, csrf);
  return flow;
}

type Schema = z.ZodType | undefined;

/** A page, as the OpenAPI document describes it. */
export const pageResponse = {
  status: 200,
  description: 'The page.',
  schema: z.string(),
  contentType: 'text/html',
  example: PAGE,
} as const satisfies RouteResponse;

/** Cause of 400 of the pages that continue a sign-in. */
export const EXPIRED = 'The sign-in has expired, or was started in another tab.';
/** Causes of errors that every page can have. */
export const pageErrors = {
  500: 'An error of the service.',
  503: 'The database does not respond.',
} as const;

/**
 * Defines a page of the sign-in. Its errors are pages as well.
 * @param spec with the causes of its errors by status, besides `pageErrors`
 */
export function pageRoute<P extends Schema = undefined, Q extends Schema = undefined, B extends Schema = undefined>(
  signIn: SignInContext,
  {
    errors,
    ...spec
  }: Pick<
    RouteSpec<P, Q, B>,
    'method' | 'path' | 'operation' | 'summary' | 'description' | 'params' | 'query' | 'body'
  > & {
    errors: Readonly<Record<number, string>>;
  },
  handler: Parameters<typeof publicRoute<P, Q, B>>[1],
): Route {
  const route = publicRoute<P, Q, B>(
    {
      ...spec,
      tag: 'Sign-in',
      bodyType: 'application/x-www-form-urlencoded',
      response: pageResponse,
      redirect: 303,
      errorStatuses: { ...pageErrors, ...errors },
    },
    handler,
  );
  return { ...route, renderError: errorPages(signIn) };
}

/** Returns how errors of the sign-in are shown. */
export const errorPages =
  ({ base, log }: SignInContext): NonNullable<Route['renderError']> =>
  (rejection) => {
    if (rejection instanceof SignInProblem) {
      log.info({ reason: rejection.code, problem: describeError(rejection.cause) }, 'sign-in failed');
    }
    return respondWith(problemPage(base, rejection.message), {
      status: rejection.status,
      ...(rejection.options.headers && { headers: rejection.options.headers }),
    });
  };
