import { z } from '@hono/zod-openapi';
import type { ConnectorKind, Issue } from '@connector-frame/catalog/types';
import { SecretWrite } from '../connectors/secret-write.js';
import { invalidRequest } from '../api-error.js';
import { kindNames } from './kind-names.js';
import { TypeId } from './schemas.js';

const MAX_NAME = 200;
const MAX_DESCRIPTION = 2_000;

const Settings = z.record(z.string(), z.unknown()).openapi({ description: "Must match the type's `config.settings`." });
const Secrets = z.record(z.string(), SecretWrite.nullable()).openapi({
  description: 'By field. An absent field keeps its stored value; null clears it.',
});

/** A complete configuration: a setting that is absent is not set. */
const Config = z.strictObject({ settings: Settings.default({}), secrets: Secrets.default({}) });
const PartialConfig = z.strictObject({ settings: Settings.optional(), secrets: Secrets.default({}) });

const unused = z.string().optional().openapi({
  description: 'Ignored, so that the body of a call that creates a connector can be tested.',
});

/** `type`, and for outputs also `output_type`. */
const typeNames = (kind: ConnectorKind) => ({
  type: TypeId.optional().openapi({ description: '`type_id` of the connector type.' }),
  ...(kind === 'output' ? { output_type: TypeId.optional().openapi({ description: 'Alias of `type`.' }) } : {}),
});

const examples = {
  enrichment: {
    type: 'http-lookup',
    config: {
      settings: {
        url: 'https://api.acme.com/users/{key}',
        join_path: 'actor.id',
        destination_path: 'enrichments.user',
      },
      secrets: { auth_headers: { value: { Authorization: 'Bearer example-token' } } },
    },
  },
  input: {
    type: 'okta-systemlog',
    config: {
      settings: { org_url: 'https://acme.okta.com' },
      secrets: { api_key: { value: '00aBcDeFgHiJkLmNoPqRsTuVwXyZ' } },
    },
  },
  output: {
    type: 'http',
    config: {
      settings: { endpoint: 'https://logs.acme.com/ingest', method: 'POST', payload_structure: 'array' },
      secrets: { auth_headers: { value: { Authorization: 'Bearer example-token' } } },
    },
  },
};

/**
 * Returns the request bodies for one kind of connector. Properties that a client cannot write (id,
 * version, timestamps) are ignored.
 */
export function connectorBodies(kind: ConnectorKind) {
  const { name: Kind } = kindNames[kind];
  const { type, config } = examples[kind];
  const example = { name: 'Production', type, config };
  return {
    create: z
      .object({
        name: z.string(),
        description: z.string().default(''),
        ...typeNames(kind),
        config: Config.default({ settings: {}, secrets: {} }),
      })
      .openapi(`Create${Kind}`, { example }),
    replace: z
      .object({ name: z.string(), description: z.string().default(''), ...typeNames(kind), config: Config })
      .openapi(`Replace${Kind}`, { example }),
    change: z
      .object({
        name: z.string().optional(),
        description: z.string().optional(),
        ...typeNames(kind),
        config: PartialConfig.optional(),
      })
      .openapi(`Change${Kind}`, { example: { name: 'Production, renamed' } }),
    test: z
      .object({
        ...typeNames(kind),
        name: unused,
        description: unused,
        config: Config,
        id: z.string().optional().openapi({ description: 'ID of a connector whose stored secrets to use.' }),
      })
      .openapi(`Test${Kind}`, { example: { type, config } }),
  };
}

/**
 * Returns the type that a body names, or `undefined`.
 * @throws ApiError 400 if `type` and `output_type` differ
 */
export function typeNamed(body: { type?: string | undefined; output_type?: unknown }): string | undefined {
  const alias = typeof body.output_type === 'string' ? body.output_type : undefined;
  if (body.type !== undefined && alias !== undefined && body.type !== alias) {
    throw invalidRequest('type and output_type are aliases and must be equal.');
  }
  return body.type ?? alias;
}

/**
 * Returns the issues of a connector's name and description. The form shows them like the issues of
 * other fields.
 */
export function textIssues(name: string, description: string): Issue[] {
  const issues: Issue[] = [];
  if (name.trim() === '') issues.push({ path: '/name', code: 'required' });
  else if (name.length > MAX_NAME) issues.push({ path: '/name', code: 'max_length', params: { maxLength: MAX_NAME } });
  if (description.length > MAX_DESCRIPTION) {
    issues.push({ path: '/description', code: 'max_length', params: { maxLength: MAX_DESCRIPTION } });
  }
  return issues;
}
