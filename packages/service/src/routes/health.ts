import { z } from '@hono/zod-openapi';
import { timingSafeEqual } from 'node:crypto';
import { ApiError } from '../api-error.js';
import { publicRoute, type Route } from '../http/route.js';
import { newApiHeaders } from '../http/respond.js';
import type { Readiness } from '../readiness.js';
import type { RouteContext } from './context.js';

export interface HealthOptions {
  readiness: Readiness;
  /** Bearer token required to read the metrics. If absent, they are public. */
  metricsToken?: string;
}

/** Routes for load balancers and operators. */
export function healthRoutes({ metrics }: Pick<RouteContext, 'metrics'>, options: HealthOptions): Route[] {
  const tag = 'Health';
  return [
    publicRoute(
      {
        method: 'get',
        path: '/livez',
        tag,
        operation: 'readLiveness',
        summary: 'Liveness of the process',
        description: 'Checks nothing else: while this responds, a restart would not help.',
        response: {
          status: 200,
          description: 'The process is alive.',
          schema: z.object({ status: z.literal('ok') }).openapi('Liveness'),
        },
      },
      () => ({ status: 200, body: { status: 'ok' } }),
    ),

    publicRoute(
      {
        method: 'get',
        path: '/readyz',
        tag,
        operation: 'readReadiness',
        summary: 'Readiness of this replica',
        description:
          'Each check is `ok`, or says what is wrong. `degraded`: the replica receives requests, but some of them fail.',
        response: {
          status: 200,
          description: 'The replica accepts requests.',
          schema: z
            .object({ status: z.enum(['ok', 'degraded']), checks: z.record(z.string(), z.string()) })
            .openapi('Readiness', { example: { status: 'ok', checks: { database: 'ok', secrets: 'ok' } } }),
        },
        errorStatuses: { 503: 'This replica is not ready: `additional_details.checks` says why.' },
      },
      async () => {
        const { status, checks } = await options.readiness.check();
        if (status !== 'unavailable') return { status: 200, body: { status, checks } };
        throw new ApiError(503, 'unavailable', 'This replica is not ready.', {
          headers: { 'Retry-After': '5' },
          details: { checks },
        });
      },
    ),

    publicRoute(
      {
        method: 'get',
        path: '/metrics',
        tag,
        operation: 'readMetrics',
        summary: 'Metrics for Prometheus',
        description: 'If METRICS_TOKEN is set, requires `Authorization: Bearer <token>`.',
        response: {
          status: 200,
          description: 'Metrics in the Prometheus text format.',
          schema: z.string(),
          contentType: 'text/plain',
          example: '# TYPE http_requests_total counter\nhttp_requests_total{method="GET",status="200"} 1042\n',
        },
        errorStatuses: { 401: 'METRICS_TOKEN is set, and the request does not contain it.' },
      },
      async ({ c }) => {
        if (
          options.metricsToken !== undefined &&
          !isSame(c.req.header('authorization'), `Bearer ${options.metricsToken}`)
        ) {
          throw new ApiError(401, 'unauthenticated', 'Send the metrics token as a bearer token.', {
            headers: { 'WWW-Authenticate': 'Bearer' },
          });
        }
        return new Response(await metrics.text(), {
          headers: { ...newApiHeaders(), 'Content-Type': metrics.contentType },
        });
      },
    ),
  ];
}

function isSame(given: string | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
