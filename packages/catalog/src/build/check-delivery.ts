/**
 * Consistency of a `delivery` definition: pointers refer to fields, templates to available values,
 * and secrets are sent only where a marked field or the definition says.
 */
import type { ConnectorTypeData, DeliveryAddress, DeliveryDefinition } from '../types.js';
import { joinPointer } from '../validate/pointer.js';
import { discriminatorOf, isMap, isUnion } from '../validate/schema.js';
import { checkAuthentication } from './check-poll-authentication.js';
import { isAddress, valuesOfChoice } from './check-poll-fields.js';
import { placeholdersIn, textsIn } from './poll-texts.js';
import { oneOf, type Problem } from './problem.js';
import { fieldsOf } from './walk.js';

const isTime = (name: string): boolean => /^now(?::\w+)?$/.test(name);
const FORMS = ['rfc3339', 'rfc3339_seconds', 'seconds', 'milliseconds', 'nanoseconds'];

type Add = (pointer: string, message: string) => void;

/** Checks the `delivery` of a type. Its shape must already be valid. */
export function checkDelivery(file: string, data: ConnectorTypeData): Problem[] {
  const { delivery } = data;
  if (!delivery) return [];
  const problems: Problem[] = [];
  const add: Add = (pointer, message) => void problems.push({ file, pointer: `/delivery${pointer}`, message });
  if (data.kind !== 'output') add('', 'belongs to outputs: an input is read with "poll"');
  checkFields(data, delivery, add);
  const { variants, ...common } = delivery;
  checkOne(common, add);
  for (const [value, variant] of Object.entries(variants?.of ?? {}))
    checkOne({ ...common, ...variant }, (pointer, message) => {
      // What a variant has in common is reported once.
      const [, key = ''] = pointer.split('/');
      if (Object.hasOwn(variant, key)) add(joinPointer('/variants/of', value) + pointer, message);
    });
  for (const [index, url] of delivery.documentation.entries())
    if (!URL.canParse(url)) add(`/documentation/${String(index)}`, 'is no address');
  return problems;
}

function checkOne(delivery: DeliveryDefinition, add: Add): void {
  checkPlaceholders(delivery, add);
  checkBody(delivery, add);
}

const addressesOf = ({ base_url: base, check, variants }: Partial<DeliveryDefinition>): readonly DeliveryAddress[] => [
  ...[base ?? []].flat(),
  ...(check?.kind === 'request' && check.base_url !== undefined ? [check.base_url] : []),
  ...Object.values(variants?.of ?? {}).flatMap(addressesOf),
];

/** Pointers of fields in a template, without a prefix such as `rendered:` or `record@`. */
const fieldsIn = (text: string): string[] =>
  placeholdersIn(text).flatMap(
    (name) => /^(?:rendered:|joined:|pairs:|others:|picked:|record@|severity@)?(\/.*?)(?:~\d+)?$/.exec(name)?.[1] ?? [],
  );

/** Pointers of the fields that decide the host and port of an address. */
function hostFieldsIn(address: string): string[] {
  const masked = address.replaceAll(/\{\{[^{}]*\}\}/g, (whole) => whole.replaceAll('/', '|'));
  const [host = ''] = /^(?:https:\/\/)?(?:\{\{[^{}]*\}\}:\/\/)?[^/]*/.exec(masked) ?? [];
  return fieldsIn(host.replaceAll('|', '/'));
}

function checkFields(data: ConnectorTypeData, delivery: DeliveryDefinition, add: Add): void {
  const fields = fieldsOf(data);
  const known = new Set(
    fields.flatMap(({ path, field, inRow }) =>
      inRow ? [] : [path, ...(isUnion(field) ? [`${path}/${discriminatorOf(field)}`] : [])],
    ),
  );
  const maps = new Set(fields.flatMap(({ path, field }) => (isMap(field) ? [path] : [])));
  for (const { pointer, text } of textsIn(delivery, '')) {
    const isPointer = /^\/(?:settings|secrets)\//.test(text);
    for (const path of isPointer ? [text] : fieldsIn(text)) {
      if (!known.has(path) && !maps.has(path.slice(0, path.lastIndexOf('/'))))
        add(pointer, `names ${path}, which is no field of this type`);
      // In a header or body of the sign-in, a secret may be part of a text.
      const own = pointer.replace(/^\/variants\/of\/[^/]+/, '');
      if (own.startsWith('/authentication/') && !isAddress(own)) continue;
      if (!isPointer && path.startsWith('/secrets/') && text !== `{{${path}}}`)
        add(pointer, `holds the secret ${path}: a secret is the whole base URL, or in "authentication"`);
      if (!isPointer && path.startsWith('/secrets/') && !pointer.includes('/base_url'))
        add(pointer, `holds the secret ${path}: secrets are in "authentication" and "base_url" only`);
    }
  }
  const { authentication } = delivery;
  if (authentication)
    checkAuthentication(
      authentication,
      (pointer, message) => add(`/authentication${pointer}`, message),
      (path) => valuesOfChoice(fields, path),
    );
  const decides = new Set(
    fields.flatMap(({ path, field }) =>
      field['x-destination'] ? [path, ...(isUnion(field) ? [`${path}/${discriminatorOf(field)}`] : [])] : [],
    ),
  );
  for (const address of addressesOf(delivery))
    for (const path of typeof address === 'string'
      ? hostFieldsIn(address)
      : [address.field, ...Object.values(address.of).flatMap(hostFieldsIn)])
      if (known.has(path) && !decides.has(path))
        add('/base_url', `sends records and secrets to where ${path} says: mark that field "x-destination"`);
}

function checkPlaceholders(delivery: DeliveryDefinition, add: Add): void {
  const { body, check, group, authentication: _authentication, ...rest } = delivery;
  const single = delivery.limits.records === 1;
  const record =
    /^(?:record(?::text|:base64|:base64_line|\/.+|@\/settings\/.+)?|severity@\/settings\/.+|(?:rendered|picked):\/settings\/.+|id)(?:~\d+)?$/;
  const verify = (value: unknown, at: string, allows: (name: string) => boolean, takes: readonly string[]): void => {
    for (const { pointer, text } of textsIn(value, at))
      for (const name of placeholdersIn(text)) {
        const [, form] = /^now(?::(\w+))?$/.exec(name) ?? [];
        if (form !== undefined && !FORMS.includes(form))
          add(pointer, `{{${name}}}: the format of a time is one of ${oneOf(FORMS)}`);
        if (!/^(?:joined:|pairs:|others:)?\//.test(name) && !allows(name))
          add(pointer, `can't say {{${name}}}: here it takes ${oneOf(['/settings/...', ...takes])}`);
      }
  };
  const perRequest = (name: string): boolean =>
    isTime(name) ||
    name === 'batch' ||
    (name === 'group' && group !== undefined) ||
    (single && (record.test(name) || name === 'first'));
  const perRecord = (name: string): boolean => isTime(name) || record.test(name);
  verify(rest, '', perRequest, single ? ['record', 'id', 'batch', 'now'] : ['batch', 'now']);
  verify(check, '/check', isTime, ['now']);
  verify(group, '/group', perRecord, ['record', 'rendered:/settings/...']);
  if (body.kind === 'json')
    verify(body.template, '/body/template', (name) => name === 'records' || perRequest(name), [
      'records',
      'batch',
      'now',
    ]);
  if (body.kind === 'form') verify(body.fields, '/body/fields', perRequest, ['record', 'id', 'now']);
  if (body.kind !== 'form') verify(body.record, '/body/record', perRecord, ['record', 'record:text', 'id', 'now']);
  if (body.kind === 'lines') verify(body.action, '/body/action', perRecord, ['record', 'id', 'now']);
}

function checkBody({ body, limits, authenticate_if: only, authentication }: DeliveryDefinition, add: Add): void {
  if (body.kind === 'form' && limits.records !== 1) add('/limits/records', 'must be 1: a form contains one record');
  if (only !== undefined && !authentication) add('/authenticate_if', 'needs "authentication"');
  if (body.kind !== 'json') return;
  const lists = [...textsIn(body.template, '')].filter(({ text }) => text.includes('{{records}}'));
  if (lists.length > 1 || lists.some(({ text }) => text !== '{{records}}'))
    add('/body/template', 'must contain "{{records}}" once, as a whole string');
  if (lists.length === 0 && limits.records !== 1)
    add('/body/template', 'must contain "{{records}}", or "limits" must say 1 record');
  if (lists.length === 0 && body.record !== undefined) add('/body/record', 'is not used: there is no "{{records}}"');
}
