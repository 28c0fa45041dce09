/**
 * Consistency of `oauth`: its provider exists, its pointers refer to fields, and the token goes
 * nowhere but to the vendor.
 */
import type { ConnectorTypeData, OAuthDefinition, OAuthProvider } from '../types.js';
import { isPlain, type Plain } from '../validate/objects.js';
import { providerShape } from './oauth-shape.js';
import { oneOf, type Problem } from './problem.js';
import type { SourceFile } from './read-sources.js';
import { fieldsOf } from './walk.js';

/** An address whose host ends with a setting. */
const ANY_HOST = /^(?:https:\/\/(?:[^/{}]|\{\{[^{}]*\}\})*)?\{\{[^{}]*\}\}\//;

type Providers = ReadonlyMap<string, SourceFile>;

/**
 * Replaces `oauth` of a type file with its provider's definition and its own properties, which
 * override it. Unknown providers are left for `checkOAuth`.
 */
export function resolveOAuth(type: ConnectorTypeData, providers: Providers): ConnectorTypeData {
  const { oauth } = type;
  const provider = oauth && providers.get(oauth.provider)?.value;
  if (!oauth || !isPlain(provider)) return type;
  const parameters: Plain = { ...asPlain(provider['parameters']), ...oauth.parameters };
  const resolved = { ...provider, ...oauth, ...(Object.keys(parameters).length > 0 && { parameters }) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `oauthShape` and `providerShape` check both parts
  return { ...type, oauth: resolved as OAuthDefinition };
}

const asPlain = (value: unknown): Plain => (isPlain(value) ? value : {});

/** Checks the files in `providers`. */
export function checkProviders(providers: Providers, used: ReadonlySet<string>): Problem[] {
  const problems: Problem[] = [];
  for (const [id, { file, value }] of providers) {
    providerShape(value, '', (pointer, message) => problems.push({ file, pointer, message }));
    if (!used.has(id)) problems.push({ file, pointer: '', message: 'no type uses this provider: delete it' });
  }
  return problems;
}

/** Checks the resolved `oauth` of a type. Its own shape must already be valid. */
export function checkOAuth(file: string, data: ConnectorTypeData, providers: Providers): Problem[] {
  const { oauth } = data;
  if (!oauth) return [];
  const problems: Problem[] = [];
  const add = (pointer: string, message: string): void =>
    void problems.push({ file, pointer: `/oauth${pointer}`, message });
  if (!providers.has(oauth.provider)) {
    add('/provider', `is not in providers: use ${oneOf([...providers.keys()])}`);
    return problems;
  }
  if (data.kind !== 'input') add('', 'belongs to inputs: the service offers it for them alone');
  const fields = fieldsOf(data);
  const secret = fields.find(({ path }) => path === oauth.secret)?.field;
  if (secret?.type !== 'string') add('/secret', 'must name a secret that is a text');
  const settings = new Map(fields.flatMap(({ path, field, secret: isSecret }) => (isSecret ? [] : [[path, field]])));
  const addresses = addressesOf(oauth);
  const addressed = new Set(addresses.flatMap(placeholdersIn));
  for (const path of addressed) {
    const field = settings.get(path);
    if (!field) add('', `names ${path}, which is no setting of this type`);
    else if (field['x-destination'] !== true) add('', `signs in where ${path} says: mark that setting "x-destination"`);
  }
  const limited = new Set<string>();
  if (addresses.some((url) => ANY_HOST.test(url)) && !oauth.suffixes)
    add('/suffixes', "is missing: otherwise, the client's secret is sent to any host that a setting names");
  for (const [index, { path, in: values }] of (oauth.when ?? []).entries()) {
    const field = settings.get(path);
    if (!field) add(`/when/${String(index)}/path`, `names ${path}, which is no setting of this type`);
    else if (field.type === 'string' && field.enum && !values.every((value) => field.enum?.includes(value)))
      add(`/when/${String(index)}/in`, `has a value that the choice lacks: it has ${oneOf(field.enum)}`);
    limited.add(path);
  }
  if (oauth.needs_client) checkChoice(oauth, fields, (message) => add('/needs_client', message));
  // The token is sent to the fixed host of `site` alone.
  const ofSite = oauth.site ? placeholdersIn(oauth.site.address) : [];
  for (const path of ofSite)
    if (!settings.has(path)) add('/site/address', `names ${path}, which is no setting of this type`);
  // Otherwise, the user of a form could have a token of the vendor sent to another host.
  for (const [path, field] of settings)
    if (field['x-destination'] === true && !addressed.has(path) && !limited.has(path) && !ofSite.includes(path))
      add('', `would send the vendor's token to where ${path} says: use it in the addresses, or limit it in "when"`);
  return problems;
}

/** What the choice makes conditional is resolved where it is not offered: see `needs_client`. */
function checkChoice(
  { secret, when = [] }: OAuthDefinition,
  fields: ReturnType<typeof fieldsOf>,
  complain: (message: string) => void,
): void {
  const [choice] = when;
  const field = fields.find(({ path }) => path === choice?.path)?.field;
  if (when.length !== 1 || !choice || field?.type !== 'string' || !field.enum || field.default === undefined)
    return complain('needs "when" with one setting, a choice with a default');
  if (choice.in.includes(field.default)) complain('is for a choice whose default is another way to sign in');
  if (field.enum.length !== 2) complain('is for a choice between two ways to sign in');
  const conditional = fields.filter(({ field: { 'x-when': on } }) => on?.path === choice.path);
  if (!conditional.some(({ path }) => path === secret)) complain(`is for a secret that depends on ${choice.path}`);
  if (conditional.some(({ field: { 'x-when': on } }) => on?.and))
    complain('allows no "and" in what depends on the choice');
}

const addressesOf = ({ authorization_url, token_url, refresh_url, account }: OAuthProvider): string[] => [
  authorization_url,
  token_url,
  ...(refresh_url === undefined ? [] : [refresh_url]),
  ...(account?.from === 'url' ? [account.url] : []),
];

const placeholdersIn = (text: string): string[] => [...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, path = '']) => path);
