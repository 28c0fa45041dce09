/** References between the parts of a type: order, conditions, destinations. */
import type { ConnectorTypeData, FieldSchema } from '../types.js';
import { discriminatorOf, isUnion, variantsOf } from '../validate/schema.js';
import { oneOf, type Problem } from './problem.js';
import { fieldsOf, type Guard, type VisitedField } from './walk.js';

/** Returns the values that a condition may test for, or undefined if they can't be enumerated. */
function valuesOf(field: FieldSchema): readonly unknown[] | undefined {
  if (field.type === 'boolean') return [true, false];
  return field.type === 'string' ? field.enum : undefined;
}

const implies = (guards: readonly Guard[], implied: Guard): boolean =>
  guards.some((guard) => guard.path === implied.path && guard.in.every((value) => implied.in.includes(value)));

function checkCondition(visited: VisitedField, all: readonly VisitedField[], add: (message: string) => void): void {
  const when = visited.field['x-when'];
  if (!when) return;
  if (visited.inRow) return add('a row has no conditions: put "x-when" on the list');
  if (visited.required) add('is in "required" although it may be hidden: use "required": true inside "x-when" instead');
  for (const clause of [when, ...(when.and ?? [])]) {
    const controller = all.find(
      ({ path, field }) =>
        path === clause.path || (isUnion(field) && clause.path === `${path}/${discriminatorOf(field)}`),
    );
    if (!controller || controller.secret || controller.inRow || controller.path === visited.path) {
      add(`depends on ${clause.path}, which is no setting: name one by its pointer, "/settings/..."`);
      continue;
    }
    const { field } = controller;
    const values = isUnion(field) ? variantsOf(field).map((variant) => variant.value) : valuesOf(field);
    if (!values) {
      add(`depends on ${clause.path}, which takes any value: only a choice or a switch can decide`);
      continue;
    }
    const impossible = clause.in.filter((value) => !values.includes(value));
    if (impossible.length > 0)
      add(`waits for ${oneOf(impossible)}, which ${clause.path} never holds: it takes ${oneOf(values)}`);
    for (const guard of controller.guards)
      if (!implies(visited.guards, guard))
        add(
          `depends on ${clause.path}, which may be hidden itself: add { "path": "${guard.path}", "in": ${JSON.stringify(guard.in)} } to "and"`,
        );
  }
}

/** Checks that everything a type refers to exists. */
export function checkLinks(file: string, data: ConnectorTypeData): Problem[] {
  const problems: Problem[] = [];
  const all = fieldsOf(data);
  for (const visited of all)
    checkCondition(visited, all, (message) => problems.push({ file, pointer: `${visited.pointer}/x-when`, message }));

  const top = new Set(all.filter(({ depth }) => depth === 1).map(({ path }) => path));
  (data.order ?? []).forEach((path, index, order) => {
    const pointer = `/order/${String(index)}`;
    if (!top.has(path)) problems.push({ file, pointer, message: `names ${path}, which is no field at the top level` });
    else if (order.indexOf(path) < index) problems.push({ file, pointer, message: `names ${path} twice` });
  });

  const hasSecrets = Object.keys(data.config.secrets.properties).length > 0;
  const decided = all.some(({ field }) => field['x-destination']);
  if (hasSecrets && !decided && data.fixed_destination === undefined) {
    const message =
      'has secrets, but nothing says where they are sent: mark the deciding settings "x-destination", or name the vendor\'s host in "fixed_destination"';
    problems.push({ file, pointer: '/config/secrets', message });
  }
  if (!hasSecrets && data.fixed_destination !== undefined)
    problems.push({ file, pointer: '/fixed_destination', message: 'has no secrets to send: remove it' });
  return problems;
}
