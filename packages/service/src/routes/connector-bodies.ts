import { z } from '@hono/zod-openapi';
import type { ConnectorKind, Issue } from '@connector-frame/catalog/types';
import { SecretWrite } from '../connectors/secret-write.js';
import { invalidRequest } from '../api-error.js';
import { TypeId } from './schemas.js';

const MAX_NAME = 200;
const MAX_DESCRIPTION = 2_000;

/** What can be wrong with a configuration, for the documented error responses. */
export const CONFIG_ERRORS = {
  409: 'Another request changed a secret that it refers to at the same time (`conflict`; retry), or every port for listening inputs is in use (`no_port`).',
  400: 'The request is malformed, the configuration does not match its type (`invalid_config`, with `issues`), or a secret that it refers to may not be sent there (`secret_not_allowed`).',
  422: 'Secrets must be entered again, because their destination changed (`secret_reentry_required`, `secret_destination_mismatch`) or they cannot be read (`secret_unreadable`).',
} as const;
/** What can go wrong in a connection test. */
export const TEST_ERRORS = {
  400: 'The request is malformed, the configuration does not match its type (`invalid_config`, with `issues`), a secret that it refers to may not be sent there (`secret_not_allowed`), or the connection does not work: `test_failed` with a stable `reason` and a `hint`, `egress_refused` for a private address, `no_test` for a type without a test.',
  422: CONFIG_ERRORS[422],
} as const;

/**
 * Settings of any type: an open object, because the document would have to contain the schemas of
 * several hundred types (decision 052).
 */
export const Settings = z.record(z.string(), z.unknown()).openapi('ConnectorSettings', {
  description:
    'The settings of a connector, by name. They depend on its type: `config.settings` of `GET /v1/inputs/{type_id}` or `GET /v1/outputs/{type_id}` is their JSON Schema, and 400 `invalid_config` names those that do not match it. A setting that is absent has its default.',
  example: { org_url: 'https://acme.okta.com' },
});
export const Secrets = z.record(z.string(), z.union([SecretWrite, z.null()])).openapi('ConnectorSecretsWrite', {
  description:
    'The secrets of a connector, by name; `config.secrets` of its type is their JSON Schema. A secret that is absent keeps its stored value; null clears it.',
  example: { api_key: { value: '00aBcDeFgHiJkLmNoPqRsTuVwXyZ' } },
});

/** A complete configuration: a setting that is absent is not set. */
export const Config = z
  .strictObject({ settings: Settings.default({}), secrets: Secrets.default({}) })
  .openapi('ConnectorConfigWrite', { description: 'The settings and secrets of a connector.' });
/** The same component of the document: only what absent settings mean differs. */
const PartialConfig = z
  .strictObject({ settings: Settings.optional(), secrets: Secrets.default({}) })
  .openapi('ConnectorConfigWrite');

const unused = z.string().optional().openapi({
  description: 'Ignored, so that the body of a call that creates a connector can be tested.',
});

const name = z.string().openapi({ minLength: 1, maxLength: MAX_NAME });
const description = z.string().openapi({ maxLength: MAX_DESCRIPTION });

/** `type`, and for outputs also `output_type`. */
const typeNames = (kind: ConnectorKind, absent: string) => ({
  type: TypeId.optional().openapi({ description: `\`type_id\` of the connector type. ${absent}`.trimEnd() }),
  ...(kind === 'output' ? { output_type: TypeId.optional().openapi({ description: 'Alias of `type`.' }) } : {}),
});

const examples = {
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
  const Kind = kind === 'input' ? 'Input' : 'Output';
  const { type, config } = examples[kind];
  const example = { name: 'Production', type, config };
  // An output can name its type in either of two fields, which `required` can't express.
  const needed = kind === 'input' ? ['type'] : [];
  const typed = typeNames(kind, kind === 'input' ? '' : 'Required, unless `output_type` is given.');
  const unchanged = typeNames(kind, 'It cannot change.');
  return {
    create: z
      .object({
        name,
        description: description.default(''),
        ...typed,
        config: Config.default({ settings: {}, secrets: {} }),
      })
      .openapi(`Create${Kind}`, { example, required: ['name', ...needed] }),
    replace: z
      .object({ name, description: description.default(''), ...unchanged, config: Config })
      .openapi(`Replace${Kind}`, { example }),
    change: z
      .object({
        name: name.optional(),
        description: description.optional(),
        ...unchanged,
        config: PartialConfig.optional(),
      })
      .openapi(`Change${Kind}`, { example: { name: 'Production, renamed' } }),
    test: z
      .object({
        ...typed,
        name: unused,
        description: unused,
        config: Config,
        id: z.string().optional().openapi({ description: 'ID of a connector whose stored secrets to use.' }),
      })
      .openapi(`Test${Kind}`, { example: { type, config }, required: [...needed, 'config'] }),
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
