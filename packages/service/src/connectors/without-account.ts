import type { ConnectorTypeData, FieldSchema } from '@connector-frame/catalog/types';

/**
 * Returns the type without the choice to sign in with a connected account: what remains is the way to
 * sign in that is the default. For services without a client at the vendor, where no account can be
 * connected.
 */
export function withoutAccount(type: ConnectorTypeData): ConnectorTypeData {
  const { oauth, order, config, ...rest } = type;
  const path = oauth?.needs_client ? oauth.when?.[0]?.path : undefined;
  if (path === undefined) return type;
  const key = path.slice('/settings/'.length);
  const { [key]: choice, ...others } = config.settings.properties;
  const value = choice && 'default' in choice ? choice.default : undefined;
  const settings = {
    ...config.settings,
    ...remaining(
      others,
      config.settings.required?.filter((name) => name !== key),
    ),
  };
  const secrets = { ...config.secrets, ...remaining(config.secrets.properties, config.secrets.required) };
  const pointers = new Set([
    ...Object.keys(settings.properties).map((name) => `/settings/${name}`),
    ...Object.keys(secrets.properties).map((name) => `/secrets/${name}`),
  ]);
  return {
    ...rest,
    ...(order && { order: order.filter((pointer) => pointers.has(pointer)) }),
    config: { settings, secrets },
  };

  /** Resolves the conditions that name the choice. */
  function remaining<Field extends FieldSchema>(
    fields: Readonly<Record<string, Field>>,
    required: readonly string[] = [],
  ) {
    const isShown = ({ 'x-when': when }: Field): boolean =>
      !when || when.path !== path || when.in.some((one) => one === value);
    const shown = Object.entries(fields).filter(([, field]) => isShown(field));
    return {
      properties: Object.fromEntries(
        shown.map(([name, field]) => [name, field['x-when']?.path === path ? unconditional(field) : field]),
      ),
      required: [
        ...required,
        ...shown.flatMap(([name, { 'x-when': when }]) => (when?.required && when.path === path ? [name] : [])),
      ],
    };
  }
}

function unconditional<Field extends FieldSchema>(field: Field): Field {
  const copy = { ...field };
  delete copy['x-when'];
  return copy;
}
