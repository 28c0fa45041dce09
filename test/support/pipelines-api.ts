import { expect } from 'vitest';
import { exampleBody, typeOf } from './connectors.js';
import type { TestDatabases } from './databases.js';
import { createTestService } from './service.js';

export const UNKNOWN = '00000000-0000-4000-8000-000000000000';

export const node = (slug: string, component_id: string, component_type = slug.replace(/-.*/, '')) => ({
  slug,
  component_id,
  component_type,
});
export const edge = (from: string, to: string, rest: object = {}) => ({
  from_node_instance_id: from,
  to_node_instance_id: to,
  ...rest,
});

export type PipelinesApi = Awaited<ReturnType<typeof openPipelinesApi>>;

/**
 * Creates a service with an organization that has one input and one output to build pipelines from.
 */
export async function openPipelinesApi(databases: TestDatabases) {
  const service = await createTestService({ database: await databases.open() });
  const acme = await service.tenant('Northwind');

  const connector = async (kind: 'input' | 'output', tenant = acme): Promise<string> => {
    const body = exampleBody(typeOf(kind, kind === 'input' ? 'demo' : 'dev-null'));
    return (await service.call('POST', `/v2/${tenant.team}/${kind}s`, { key: tenant.key, body })).body.id;
  };
  /** Sends a request; `~` in the path is replaced by the team's id. */
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.call(method, path.replace('~', acme.team), {
      key: acme.key,
      headers,
      ...(body === undefined ? {} : { body }),
    });
  const input = await connector('input');
  const output = await connector('output');
  const simple = () => ({
    name: 'One',
    nodes: [node('input', input), node('output', output)],
    edges: [edge('input', 'output')],
  });

  return {
    service,
    acme,
    input,
    output,
    connector,
    send,
    /** Returns the body of a pipeline from the input to the output. */
    simple,
    async create(body: object = simple()) {
      const made = await send('POST', '/v2/~/pipelines', body);
      expect(made.status, made.text).toBe(201);
      return made.body;
    },
    /** Sends a body that must be rejected and returns the path and code of each issue. */
    async issues(body: object, method = 'POST', path = '/v2/~/pipelines') {
      const response = await send(method, path, body);
      expect([response.status, response.body.error_type], response.text).toEqual([400, 'invalid_pipeline']);
      return response.body.additional_details.issues.map((issue: Record<string, string>) => [
        issue['path'],
        issue['code'],
      ]);
    },
    async close(): Promise<void> {
      await service.store.close();
      await databases.close();
    },
  };
}
