import type { Field } from '../../model/field.js';
import type { View } from '../view.js';
import { booleanField, enumField } from './choice.js';
import { groupField, variantsField } from './group.js';
import { mapField, objectListField, stringListField } from './list.js';
import { multilineField } from './multiline.js';
import { secretField } from './secret.js';
import { cronField, dateTimeField, numberField, textField } from './text.js';

type Template<F extends Field> = (view: View, field: F, path: string) => unknown;

const templates: { [K in Field['kind']]: Template<Extract<Field, { kind: K }>> } = {
  text: textField,
  multiline: multilineField,
  number: numberField,
  boolean: booleanField,
  enum: enumField,
  'date-time': dateTimeField,
  cron: cronField,
  'string-list': stringListField,
  'object-list': objectListField,
  group: groupField,
  map: mapField,
  variants: variantsField,
  secret: secretField,
};

/** Returns the template of a field of any kind. */
export function fieldTemplate(view: View, field: Field, path: string): unknown {
  // TypeScript does not relate the kind of a field to the type of its template.
  const template = templates[field.kind] as Template<Field>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return template(view, field, path);
}
