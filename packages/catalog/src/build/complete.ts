import { isPlain, own, type Plain } from '../validate/objects.js';

function completeField(value: unknown, secret: boolean): unknown {
  if (!isPlain(value)) return value;
  const { properties, oneOf, additionalProperties, items } = value;
  const extra: Plain = {};
  if (secret) extra['writeOnly'] = true;
  if (isPlain(properties)) {
    extra['type'] = 'object';
    extra['properties'] = completeAll(properties, false);
    extra['additionalProperties'] = false;
  } else if (Array.isArray(oneOf)) {
    extra['type'] = 'object';
    extra['oneOf'] = oneOf.map((variant) => {
      const inner = own(variant, 'properties');
      if (!isPlain(variant) || !isPlain(inner)) return variant;
      const all = { properties: completeAll(inner, false), required: Object.keys(inner), additionalProperties: false };
      return { ...variant, ...all };
    });
  } else if (isPlain(additionalProperties)) extra['type'] = 'object';
  else if (items !== undefined) {
    extra['type'] = 'array';
    extra['items'] = completeField(items, false);
  }
  return { ...value, ...extra };
}

const completeAll = (properties: Plain, secret: boolean): Plain =>
  Object.fromEntries(Object.entries(properties).map(([key, field]) => [key, completeField(field, secret)]));

/**
 * Fills in values that a type file may omit because they are always the same: `type` of objects and
 * lists, no unknown properties, every secret `writeOnly`, every key of a variant required, empty
 * settings or secrets.
 */
export function complete(value: unknown): unknown {
  if (!isPlain(value)) return value;
  const section = (name: 'settings' | 'secrets'): Plain => {
    const given = own(value['config'], name) ?? {};
    const properties = own(given, 'properties') ?? {};
    return {
      ...(isPlain(given) ? given : {}),
      type: 'object',
      properties: isPlain(properties) ? completeAll(properties, name === 'secrets') : properties,
      additionalProperties: false,
    };
  };
  const config = value['config'] ?? {};
  if (!isPlain(config)) return value;
  return { ...value, config: { ...config, settings: section('settings'), secrets: section('secrets') } };
}
