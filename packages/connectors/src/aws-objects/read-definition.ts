import type { AwsObjectFormat, AwsObjectsDefinition, ConnectorConfig } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { AwsFields } from '../_shared/aws/failures.js';
import type { FormatOptions } from '../_shared/formats/index.js';
import { readInputSettings } from '../_shared/objects/input-settings.js';
import { invalidConfig } from '../_shared/output/send.js';
import type { Compression } from '../_shared/unpack.js';

const PLACEHOLDER = /\{\{(\/settings\/[^{}]+)\}\}/g;

export const textAt = (config: ConnectorConfig, path: string | undefined): string | undefined => {
  const value: unknown = path === undefined ? undefined : getAt(config, path);
  const text = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
  return text === '' ? undefined : text;
};

/** Fills in settings. A part whose setting is empty is left out, with the slash behind it. */
export function fill(template: string, config: ConnectorConfig): string {
  return template.replaceAll(/\{\{(\/settings\/[^{}]+)\}\}\/?/g, (whole, path: string) => {
    const text = textAt(config, path);
    if (text === undefined) return '';
    return whole.endsWith('/') ? `${text.replace(/\/+$/, '')}/` : text;
  });
}

export const fieldsOf = ({ access }: AwsObjectsDefinition): AwsFields => ({
  accessKey: access.access_key_id,
  secretKey: access.secret_access_key,
  role: access.role_arn,
});

/** How objects are parsed. @throws ConnectorError `invalid_config` */
export function formatOf(
  { format }: AwsObjectsDefinition,
  config: ConnectorConfig,
): FormatOptions & { compression: Compression } {
  if (!format) return readInputSettings(config.settings);
  const found = 'field' in format ? choiceOf(format, config) : format;
  const { kind, location, columns = [], empty } = found;
  return { format: kind, location, columns, compression: 'auto', ...(empty !== undefined && { empty }) };
}

function choiceOf(
  { field, of }: Extract<AwsObjectsDefinition['format'], { field: string }>,
  config: ConnectorConfig,
): AwsObjectFormat {
  const found = Object.entries(of).find(([value]) => value === textAt(config, field));
  if (!found) throw invalidConfig('This choice is not supported.');
  return found[1];
}

/** Returns whether to read an object, by its key. */
export function filterOf({ keys }: AwsObjectsDefinition, config: ConnectorConfig): (key: string) => boolean {
  const { matches } = readInputSettings({ key_filter: config.settings['key_filter'] });
  const written = (all: readonly string[] | undefined) =>
    all?.map((each) => each.replaceAll(PLACEHOLDER, (_whole, path: string) => textAt(config, path) ?? ''));
  const any = written(keys?.any);
  const none = written(keys?.none) ?? [];
  return (key) =>
    matches(key) && (any?.some((part) => key.includes(part)) ?? true) && !none.some((part) => key.includes(part));
}
