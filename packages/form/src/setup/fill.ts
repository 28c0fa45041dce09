/** Returns the values of a placeholder; several for a list. */
export type Lookup = (path: string, form: string | undefined) => readonly string[];

const PLACEHOLDER = /\{\{([^{}:]+)(?::(\w+))?\}\}/;

/**
 * Fills a template of `setup` (`packages/catalog/src/setup.ts`), and returns one text per value of a
 * list. A value is never searched for placeholders.
 */
export function fillAll(template: string, lookup: Lookup): string[] {
  return template.split(/(\{\{[^{}]*\}\})/).reduce<string[]>(
    (texts, part) => {
      const [, path, form] = PLACEHOLDER.exec(part) ?? [];
      const values = path === undefined ? [part] : lookup(path, form);
      return texts.flatMap((text) => values.map((value) => text + value));
    },
    [''],
  );
}

/** Fills a template without lists. */
export const fill = (template: string, lookup: Lookup): string => fillAll(template, lookup)[0] ?? '';

type Derive = (text: string) => string | undefined;

const keep: Derive = (text) => text;

/** Forms of settings. */
const SETTINGS: Readonly<Record<string, Derive>> = {
  optional: keep,
  queue(text) {
    const [, account, name] = /^https:\/\/[^/]+\/(\d{12})\/([^/]+)$/.exec(text) ?? [];
    return name === undefined ? undefined : `${account}:${name}`;
  },
  account: (text) => (URL.canParse(text) ? new URL(text).hostname.split('.')[0] : undefined),
};

/** Forms of secrets: the only parts that are ever shown. */
const SECRETS: Readonly<Record<string, Derive>> = {
  client_email: (text) => ofKeyFile(text, 'client_email', /^[\w.+-]+@[\w.-]+$/),
  client_id: (text) => ofKeyFile(text, 'client_id', /^\d+$/),
  guid: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.exec(text)?.[0],
};

/** Returns a property of a Google service account key that is not secret. */
function ofKeyFile(text: string, name: string, pattern: RegExp): string | undefined {
  try {
    const value: unknown = Reflect.get(Object(JSON.parse(text)), name);
    return typeof value === 'string' && pattern.test(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Creates the lookup of a form's values. A missing one becomes `<bucket>`, so that AWS and shells
 * reject what was copied too early.
 *
 * @param value returns what the form's field at a path holds
 * @param extra values that no field holds: `partition` and `public_key`
 */
export function createLookup(
  value: (path: string) => unknown,
  extra: Readonly<Record<string, string | undefined>>,
): Lookup {
  return (path, form) => {
    const found = valuesOf(path, form);
    if (found.length > 0) return found;
    if (form === 'optional') return [''];
    return [`<${form !== undefined && /^(?:client|public)_/.test(form) ? form : path.split('/').at(-1)}>`];
  };

  function valuesOf(path: string, form: string | undefined): string[] {
    const other = extra[form === 'public_key' ? form : path];
    if (other !== undefined) return [other];
    const isSecret = path.startsWith('/secrets/');
    const derive = form === undefined && !isSecret ? keep : (isSecret ? SECRETS : SETTINGS)[form ?? ''];
    const given = derive && value(path);
    return (Array.isArray(given) ? given : [given]).flatMap((one: unknown) => {
      const text = typeof one === 'string' || typeof one === 'number' ? derive?.(`${one}`.trim()) : undefined;
      return text ? [text] : [];
    });
  }
}
