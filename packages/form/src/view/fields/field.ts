import type { Field } from '../../model/field.js';
import type { View } from '../view.js';
import { booleanField, enumField } from './choice.js';
import { groupField, variantsField } from './group.js';
import { mapField, objectListField, stringListField } from './list.js';
import { multilineField } from './multiline.js';
import { secretField } from './secret.js';
import { cronField, dateTimeField, numberField, textField } from './text.js';

/** Returns the template of a field of any kind. */
export function fieldTemplate(view: View, field: Field, path: string): unknown {
  switch (field.kind) {
    case 'multiline':
      return multilineField(view, field, path);
    case 'number':
      return numberField(view, field, path);
    case 'boolean':
      return booleanField(view, field, path);
    case 'enum':
      return enumField(view, field, path);
    case 'date-time':
      return dateTimeField(view, field, path);
    case 'cron':
      return cronField(view, field, path);
    case 'string-list':
      return stringListField(view, field, path);
    case 'object-list':
      return objectListField(view, field, path);
    case 'group':
      return groupField(view, field, path);
    case 'map':
      return mapField(view, field, path);
    case 'variants':
      return variantsField(view, field, path);
    case 'secret':
      return secretField(view, field, path);
    default:
      return textField(view, field, path);
  }
}
