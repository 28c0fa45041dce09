/**
 * Consistency of `authentication`: placeholders have values, secrets never decide an address, and
 * addresses by a choice name each of its values.
 */
import type {
  PollAuthentication,
  PollLogin,
  PollSignature,
  PollSignatureStep,
  PollSingleAuthentication,
} from '../types.js';
import { isPlain } from '../validate/objects.js';
import { joinPointer } from '../validate/pointer.js';
import { textsIn } from './poll-texts.js';
import { oneOf } from './problem.js';
import { isTimeForm, TIME_FORMS } from './time-form.js';

type Add = (pointer: string, message: string) => void;
/** Returns the values of a choice, by the pointer of its setting; `undefined` if it is none. */
type ChoiceValues = (path: string) => readonly string[] | undefined;
/** Forms of each placeholder that is allowed. */
type Names = ReadonlyMap<string, readonly string[]>;

const FORMS = ['lower', 'upper', 'encoded'];
/** What differs between two signatures of the same request. */
const MOMENT = [
  ['timestamp', TIME_FORMS.filter((form) => !form.endsWith('_ago'))],
  ['nonce', ['short']],
] as const;
const OF_REQUEST = ['method', 'scheme', 'host', 'path', 'query', 'sorted_query', 'target', 'body', 'length'];
export function checkAuthentication(authentication: PollAuthentication, add: Add, valuesOf: ChoiceValues): void {
  if (authentication.kind === 'first') return checkFirst(authentication.of, add);
  if (authentication.kind !== 'choice') return checkMethod(authentication, add);
  const { field, of } = authentication;
  checkChoice(valuesOf(field), Object.keys(of), add);
  for (const [value, each] of Object.entries(of))
    checkMethod(each, (pointer, message) => add(joinPointer('/of', value) + pointer, message));
}

function checkFirst(methods: readonly PollSingleAuthentication[], add: Add): void {
  for (const [index, method] of methods.entries()) {
    const at = `/of/${String(index)}`;
    checkMethod(method, (pointer, message) => add(at + pointer, message));
    const needsSecrets = [...textsIn(method, '')].some(({ text }) => text.includes('/secrets/'));
    if (!needsSecrets && index < methods.length - 1)
      add(at, 'needs no secret, so those after it are never used: put it last');
  }
}

/** Checks that there is an entry for each value of a choice. */
function checkChoice(values: readonly string[] | undefined, given: readonly string[], add: Add): void {
  if (!values) return add('/field', 'must name a setting with a choice');
  for (const value of values) if (!given.includes(value)) add('/of', `lacks ${JSON.stringify(value)}`);
  for (const value of given)
    if (!values.includes(value)) add(joinPointer('/of', value), `is no value of the choice: it has ${oneOf(values)}`);
}

function checkMethod(method: PollSingleAuthentication, add: Add): void {
  if (method.kind === 'login') return checkLogin(method, add);
  if (method.kind === 'signature') return checkSignature(method, add);
  const { claims, ...others } = { claims: undefined, ...method };
  checkNames(others, '', new Map(), add);
  checkNames(claims, '/claims', new Map([['nonce', []]]), add);
  if (method.kind === 'fields' && !method.headers && !method.query && !method.body)
    add('', 'sends nothing: add "headers", "query" or "body"');
  if (method.kind === 'private_key_jwt' || method.kind === 'jwt') {
    const isShared = method.algorithm?.startsWith('HS') === true;
    if (isShared !== ['text', 'base64'].includes(method.key_format))
      add('/key_format', 'must be "text" or "base64" for an "HS" algorithm, and only for those');
  }
}

function checkLogin({ steps = [], requests, refresh, lifetime, send, host }: PollLogin, add: Add): void {
  const names = new Map<string, readonly string[]>(MOMENT);
  checkSteps(steps, names, [], add);
  const calls = [...requests.entries()].map(([index, request]) => ({ at: `/requests/${String(index)}`, request }));
  for (const { at, request } of [...calls, ...(refresh ? [{ at: '/refresh', request: refresh }] : [])]) {
    const { values = {}, json, form, method, ...sent } = request;
    checkNames({ ...sent, json, form }, at, names, add);
    if (json !== undefined && form !== undefined) add(at, 'has two bodies: keep "json" or "form"');
    if ((json !== undefined || form !== undefined) && method === 'GET') add(`${at}/method`, 'has no body');
    for (const name of Object.keys(values)) names.set(name, []);
  }
  for (const [name] of MOMENT) names.delete(name);
  checkNames({ lifetime, host }, '', names, add);
  checkNames(send, '/send', names, add);
  if (!send.headers && !send.query && !send.cookies) add('/send', 'sends nothing: add "headers", "query" or "cookies"');
}

function checkSignature({ signed, steps, headers, query }: PollSignature, add: Add): void {
  const names = new Map<string, readonly string[]>([...OF_REQUEST.map((name) => [name, FORMS] as const), ...MOMENT]);
  checkNames(signed, '/signed', names, add);
  checkSteps(steps, names, FORMS, add);
  checkNames({ headers, query }, '', names, add);
  if (!headers && !query) add('', 'sends nothing: add "headers" or "query"');
}

/** Checks steps, and adds their names. */
function checkSteps(
  steps: readonly PollSignatureStep[],
  names: Map<string, readonly string[]>,
  forms: readonly string[],
  add: Add,
): void {
  for (const [index, step] of steps.entries()) {
    const at = `/steps/${String(index)}`;
    checkNames(step, at, names, add);
    if (names.has(step.name)) add(`${at}/name`, 'is the name of another placeholder');
    names.set(step.name, forms);
  }
}

/** Checks placeholders other than fields. Headers of the request are `header.<name>`. */
function checkNames(value: unknown, at: string, names: Names, add: Add): void {
  for (const { pointer, name, form } of placeholdersIn(value, at)) {
    const forms = name.startsWith('header.') && names.has('method') ? FORMS : names.get(name);
    if (!forms)
      add(pointer, `can't say {{${name}}}: here it takes ${oneOf(['/settings/...', '/secrets/...', ...names.keys()])}`);
    else if (form !== undefined && !forms.includes(form) && !(name === 'timestamp' && isTimestamp(form)))
      add(pointer, `{{${name}:${form}}}: ${forms.length > 0 ? `the form is ${oneOf(forms)}` : 'it has no forms'}`);
  }
}

const isTimestamp = (form: string): boolean => isTimeForm(form, 'request') && !form.endsWith('_ago');

interface Placeholder {
  pointer: string;
  name: string;
  form: string | undefined;
}

/** Yields the placeholders in a value, without those that are fields. */
function* placeholdersIn(value: unknown, pointer: string): Generator<Placeholder> {
  if (typeof value === 'string') {
    for (const [, inner = ''] of value.matchAll(/\{\{([^{}]*)\}\}/g)) {
      const [, name = '', form] = /^([^:]*)(?::(.*))?$/.exec(inner) ?? [];
      if (!inner.startsWith('/') || form !== undefined) yield { pointer, name, form };
    }
  } else if (Array.isArray(value) || isPlain(value))
    for (const [key, each] of Object.entries(value)) yield* placeholdersIn(each, joinPointer(pointer, key));
}
