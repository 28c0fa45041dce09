/**
 * Consistency of a `poll` definition: pointers refer to fields, templates to available values, and
 * the cursor advances.
 */
import type { ConnectorTypeData, PollDefinition, PollStream } from '../types.js';
import { checkAddresses, checkListSettings, isAddress, valuesOfChoice } from './check-poll-fields.js';
import { checkAuthentication } from './check-poll-authentication.js';
import { checkConditions } from './check-poll-condition.js';
import { checkConnection, checkUnsupported } from './check-poll-connection.js';
import { checkRecords, checkRequest } from './check-poll-request.js';
import { checkStream } from './check-poll-stream.js';
import { checkValues } from './check-poll-values.js';
import { isNamed, templatesWithNames, TIMES } from './poll-names.js';
import { namesIn, textsIn } from './poll-texts.js';
import { isTimeForm, TIME_FORMS } from './time-form.js';
import { oneOf, type Problem } from './problem.js';
import { fieldsOf } from './walk.js';
import { discriminatorOf, isUnion } from '../validate/schema.js';

/** Whether a stream always has a position to continue from. */
const hasPosition = ({ cursor }: PollStream): boolean => ['link', 'continue', 'id'].includes(cursor.kind);

/** Checks the `poll` of a type. Its shape must already be valid. */
export function checkPoll(file: string, data: ConnectorTypeData): Problem[] {
  const { poll } = data;
  if (!poll) return [];
  const problems: Problem[] = [];
  const add = (pointer: string, message: string): void =>
    void problems.push({ file, pointer: `/poll${pointer}`, message });
  if (data.kind !== 'input') add('', 'belongs to inputs: an output delivers');
  checkFields(data, poll, add);
  checkTemplates(poll, add);
  for (const check of [checkRequest, checkRecords])
    check(poll.check, (pointer: string, message: string) => add(`/check${pointer}`, message));
  const names = poll.streams.map(({ name }) => name);
  poll.streams.forEach((stream, index) => {
    const at = `/streams/${String(index)}`;
    if (names.indexOf(stream.name) < index) add(`${at}/name`, 'is the name of two streams');
    checkStream(stream, (pointer, message) => add(at + pointer, message));
  });
  if (poll.schedule !== undefined && poll.streams.some(hasPosition))
    add('/schedule', 'is for streams with the cursor "time" or "none": the others always have a place to go on from');
  checkJobStarts(poll, add);
  checkRoles(poll, add);
  for (const [index, url] of poll.documentation.entries())
    if (!URL.canParse(url)) add(`/documentation/${String(index)}`, 'is no address');
  return problems;
}

type Add = (pointer: string, message: string) => void;

/** Checks that either the schedule or an interval says when jobs are started. */
function checkJobStarts({ schedule, streams }: PollDefinition, add: Add): void {
  const jobs = streams.filter(({ job }) => job !== undefined).length;
  if (schedule !== undefined && jobs > 0 && jobs < streams.length)
    add('/schedule', 'starts jobs, and would read the other streams again while a job runs: give all streams a job');
  for (const [index, { job }] of streams.entries()) {
    if (!job || (job.every_seconds === undefined) === (schedule !== undefined)) continue;
    const at = `/streams/${String(index)}/job`;
    if (schedule === undefined) add(at, 'needs "every_seconds", or a "schedule" of the definition');
    else add(`${at}/every_seconds`, 'is not used: "schedule" starts the jobs');
  }
}

/** Checks that requests have roles exactly if the authentication uses them. */
function checkRoles({ authentication, streams, check }: PollDefinition, add: Add): void {
  const isUsed = authentication.kind === 'aws_sigv4' && authentication.role_of_request === true;
  const requests = [
    ...streams.map(({ role }, index) => ({ at: `/streams/${String(index)}`, role })),
    { at: '/check', role: check.role },
  ];
  for (const { at, role } of requests)
    if (isUsed !== (role !== undefined))
      add(at, isUsed ? 'needs "role": the authentication has "role_of_request"' : 'has "role", which nothing uses');
}

/** Whether a placeholder is a value of the record whose detail is requested; never in an address. */
const isOfRecord = (name: string, pointer: string): boolean =>
  name.startsWith('/record/') && /^\/streams\/\d+\/detail\/(?!base_url)/.test(pointer);

/** Checks that pointers in the definition, on their own or inside templates, refer to fields. */
function checkFields(data: ConnectorTypeData, poll: PollDefinition, add: Add): void {
  const fields = fieldsOf(data);
  const known = new Set(
    fields.flatMap(({ path, field, inRow }) =>
      inRow ? [] : [path, ...(isUnion(field) ? [`${path}/${discriminatorOf(field)}`] : [])],
    ),
  );
  // Field pointers begin with the name of a section; paths into responses do not.
  for (const { pointer, text } of textsIn(poll, '')) {
    const named = /^\/(?:settings|secrets)\//.test(text)
      ? [text]
      : namesIn(text).filter((name) => name.startsWith('/') && !isOfRecord(name, pointer));
    for (const path of named) {
      if (!known.has(path)) add(pointer, `names ${path}, which is no field of this type`);
      if (
        path !== text &&
        path.startsWith('/secrets/') &&
        !(pointer.startsWith('/authentication/') && !isAddress(pointer))
      )
        add(pointer, `holds the secret ${path}: secrets stand in "authentication" alone, never in an address`);
    }
  }
  checkAddresses(poll, fields, add);
  checkListSettings(poll, fields, add);
  checkValues(poll, fields, add);
  checkConnection(fields, add);
  checkUnsupported(poll, fields, add);
  checkConditions(poll, fields, add);
  checkAuthentication(
    poll.authentication,
    (pointer, message) => add(`/authentication${pointer}`, message),
    (path) => valuesOfChoice(fields, path),
  );
}

function checkTemplates(poll: PollDefinition, add: Add): void {
  const { streams, check: test, authentication: _authentication, values = {}, ...rest } = poll;
  const computed = Object.keys(values);
  const check = (value: unknown, at: string, names: readonly string[]): void => {
    for (const { pointer, text } of textsIn(value, at))
      for (const placeholder of namesIn(text)) {
        if (placeholder.startsWith('/') || (placeholder === 'item' && pointer.endsWith('/item'))) continue;
        const [name = '', ...rest] = placeholder.split(':');
        const form = rest.length > 0 ? rest.join(':') : undefined;
        const known = [
          ...names,
          ...computed.filter((each) => !isAddress(pointer) || values[each]?.first === true),
          ...(/.\/headers\/[^/]+$/.test(pointer) ? ['uuid'] : []),
        ];
        if (!isNamed(name, known))
          add(pointer, `can't say {{${placeholder}}}: here it takes ${oneOf(['/settings/...', ...known])}`);
        else if (form !== undefined && !(TIMES.includes(name) && isTimeForm(form, 'request')))
          add(pointer, `{{${placeholder}}}: only a time has a form, one of ${oneOf(TIME_FORMS)}`);
      }
  };
  check(values, '/values', []);
  check(rest, '', []);
  check(test, '/check', TIMES);
  streams.forEach((stream, index) => {
    for (const { pointer, value, names } of templatesWithNames(stream))
      check(value, `/streams/${String(index)}${pointer}`, names);
  });
}
