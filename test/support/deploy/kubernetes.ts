import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';

/** A manifest of Kubernetes. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec?: unknown;
}

interface Definition {
  type?: string;
  format?: string;
  properties?: Record<string, Definition>;
  additionalProperties?: unknown;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
}

/**
 * Returns a function that validates manifests as an API server of that release would, strictly:
 * unknown fields are errors. It returns what is wrong.
 * @param file `api/openapi-spec/swagger.json` of the source of Kubernetes
 */
export function kubernetesValidator(file: string): (manifest: Manifest) => string[] {
  const { definitions } = JSON.parse(readFileSync(file, 'utf8')) as { definitions: Record<string, Definition> };
  for (const definition of Object.values(definitions)) {
    if (definition.properties && definition.additionalProperties === undefined) definition.additionalProperties = false;
    // Declared as a string, since OpenAPI 2 has no unions.
    if (definition.format === 'int-or-string') Object.assign(definition, { type: ['integer', 'string'] });
    if (definition.format !== undefined && !KNOWN_FORMATS.has(definition.format)) delete definition.format;
    for (const property of Object.values(definition.properties ?? {}))
      if (property.format !== undefined && !KNOWN_FORMATS.has(property.format)) delete property.format;
  }
  // Refers to the definitions as the document does: "#/definitions/io.k8s.api.core.v1.Pod".
  const ajv = addFormats
    .default(new Ajv({ strict: false, allErrors: true }))
    .addSchema({ $id: 'kubernetes', definitions });
  return (manifest) => {
    const [version = '', group = ''] = manifest.apiVersion.split('/').toReversed();
    const name = Object.keys(definitions).find((each) =>
      definitions[each]?.['x-kubernetes-group-version-kind']?.some(
        (one) => one.group === group && one.version === version && one.kind === manifest.kind,
      ),
    );
    if (name === undefined) return [`${manifest.apiVersion} ${manifest.kind} is unknown`];
    const validate = ajv.getSchema(`kubernetes#/definitions/${name}`);
    if (!validate) throw new Error(`There is no schema ${name}.`);
    return validate(manifest) === true ? [] : (validate.errors ?? []).map(textOfError);
  };
}

const KNOWN_FORMATS = new Set(['date-time', 'double', 'int32', 'int64']);

const textOfError = ({ instancePath, message = '', params }: ErrorObject): string =>
  `${instancePath} ${message} ${JSON.stringify(params)}`;
