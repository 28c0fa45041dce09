import { readFile } from 'node:fs/promises';
import { OpenAPIHono } from '@hono/zod-openapi';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { writeElement } from '../../../../test/support/drop-in.js';
import { formAssets } from '../../../../test/support/form-assets.js';
import { createConformance } from '../../../../test/support/conformance.js';
import { long } from '../../../../test/support/long.js';
import { ownRules, redocly, spectral, type LintedDocument } from '../../../../test/support/openapi-lint.js';
import { operationsOf } from '../../../../test/support/operations.js';
import { createTestService, PUBLIC_URL, type TestService } from '../../../../test/support/service.js';
import { loadDropIn } from '../embed/drop-in.js';
import { mountRoutes, type MountOptions } from './mount-routes.js';
import type { Route } from './route.js';

const databases = anyDatabase();
let service: TestService;

beforeAll(async () => {
  const element = await writeElement();
  const [form, dropIn] = await Promise.all([formAssets(), loadDropIn(element.folder)]);
  await element.remove();
  service = await createTestService({ database: await databases.open(), form, dropIn });
});
afterAll(() => service.store.close());

describe('/openapi.json', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const { status, headers, body } = await service.call('GET', '/openapi.json/');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toMatchObject({ openapi: '3.1.0', servers: [{ url: PUBLIC_URL }, { url: `${PUBLIC_URL}/api` }] });
    const validator = new Validator();
    const { valid, errors } = await validator.validate(body);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('has the version of the service', async () => {
    const { body } = await service.call('GET', '/openapi.json');
    const manifest: { version: string } = JSON.parse(
      await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    expect(body.info.version).toBe(manifest.version);
  });

  it('declares the session access and the error responses of each operation', async () => {
    const { body } = await service.call('GET', '/openapi.json');
    type Described = Record<string, unknown> & { responses: object };
    const operations = Object.values<Record<string, Described>>(body.paths).flatMap((path) => Object.values(path));
    for (const operation of operations) {
      expect(['allow', 'deny']).toContain(operation['x-session']);
      const refusals = Object.keys(operation.responses);
      if (!operation['x-public']) expect(refusals).toEqual(expect.arrayContaining(['401', '403', '429']));
    }
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('createConformance rejects responses that do not match the document', async () => {
    const conform = await createConformance(service.app, 'openapi.test');
    const headers = { 'request-id': 'x', 'content-type': 'application/json' };
    const check = (method: string, path: string, status: number, json: unknown, more: Record<string, string> = {}) =>
      conform(method, path, {
        status,
        headers: new Headers({ ...headers, ...more }),
        json,
        text: JSON.stringify(json),
      });
    const alive = { status: 'ok' };
    expect(() => check('GET', '/livez', 200, alive)).not.toThrow();
    expect(() => check('GET', '/livez/', 200, { status: 'dead' })).toThrow('readLiveness 200');
    expect(() => check('GET', '/livez', 403, alive)).toThrow('the status is not documented');
    expect(() => check('GET', '/livez', 200, { ...alive, since: 1 })).toThrow('must NOT have unevaluated properties');
    expect(() => check('GET', '/livez', 200, alive, { 'content-type': 'text/plain' })).toThrow('text/plain');
    expect(() => check('GET', '/livez', 200, alive, { etag: '"1"' })).toThrow('ETag is not documented');
    expect(() => check('GET', '/livez', 200, alive, { 'request-id': '' })).not.toThrow();
    const response = { status: 200, headers: new Headers(), text: '', json: alive };
    expect(() => conform('GET', '/livez', response)).toThrow('Request-Id is missing');
    const error = { error: 'x', error_type: 'new', code: 404 };
    expect(() => check('GET', '/v1/inputs/x', 404, error)).toThrow('/error_type must be equal to one of');
    // Both parts of an allOf are known, and nothing else.
    const state = { pipelines: [{ id: 'x' }], pagination: { limit: 1, offset: 0, total: 1 } };
    expect(() => check('GET', '/v2/x/pipelines', 200, state)).toThrow("must have required property 'organization_id'");
  });

  it('contains every route', async () => {
    const documented = (await operationsOf(service.app)).map(
      ({ method, path }) => `${method} ${path.replace(/(.)\/$/, '$1').replaceAll(/\{(\w+)\}/g, ':$1')}`,
    );
    const routes = service.app.routes.map(({ method, path }) => `${method} ${path}`);
    const rest = routes.filter((route) => !documented.includes(route));
    expect(rest.sort()).toEqual(['GET /openapi.json', 'OPTIONS /*']);
  });
});

describe('the document', () => {
  let text: string;
  beforeAll(async () => {
    text = await (await service.app.request('/openapi.json')).text();
  });

  it("has no problem by Redocly's strictest rules", async () => expect(await redocly(text)).toEqual([]));
  it.runIf(long)("has no problem by any of Spectral's rules", async () => expect(await spectral(text)).toEqual([]));
  it('has what readers and generators need', () => {
    const document: LintedDocument = JSON.parse(text);
    expect(ownRules(document)).toEqual([]);
  });
});

const mount = (access: object) => {
  // Bypass the type checker to mount a route with an invalid access policy.
  const route: Route = JSON.parse(JSON.stringify({ spec: { method: 'get', path: '/new', access } }));
  const options: MountOptions = JSON.parse('{}');
  mountRoutes(new OpenAPIHono(), [route], options);
};

describe('mountRoutes', () => {
  it('rejects a route without a complete access policy', () => {
    expect(() => mount({})).toThrow('get /new has no access policy');
    expect(() => mount({ permission: 'read' })).toThrow(TypeError);
    expect(() => mount({ permission: [], session: 'deny' })).toThrow(TypeError);
    expect(() => mount({ session: 'allow' })).toThrow(TypeError);
    expect(() => mount({ permission: 'read', session: 'maybe' })).toThrow(TypeError);
  });
});
