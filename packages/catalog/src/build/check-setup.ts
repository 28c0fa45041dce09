/**
 * Consistency of `setup`: its placeholders refer to fields, and of a secret it shows only what
 * the vendor receives anyway.
 */
import type { ConnectorTypeData } from '../types.js';
import { textsIn } from './poll-texts.js';
import { oneOf, type Problem } from './problem.js';
import { fieldsOf, type VisitedField } from './walk.js';

/** Statements that the CloudFormation template has parameters for. */
const MAX_STATEMENTS = 3;

const SETTING_FORMS = ['optional', 'queue', 'account'];

/** Forms of a secret, and the fields that have them. */
const SECRET_FORMS: Readonly<Record<string, (field: VisitedField['field']) => boolean>> = {
  client_email: isJson,
  client_id: isJson,
  guid: (field) => field.type === 'string' && field.pattern?.includes('[0-9A-Fa-f]{8}') === true,
  public_key: isPrivateKey,
};

function isJson(field: VisitedField['field']): boolean {
  return field.type === 'string' && field.format === 'json';
}

function isPrivateKey(field: VisitedField['field']): boolean {
  return field.type === 'string' && field['x-private-key'] === 'plain';
}

/** Checks the `setup` of a type. Its shape must already be valid. */
export function checkSetup(file: string, data: ConnectorTypeData): Problem[] {
  const { setup } = data;
  if (!setup) return [];
  const problems: Problem[] = [];
  const add = (pointer: string, message: string): void =>
    void problems.push({ file, pointer: `/setup${pointer}`, message });
  const fields = new Map(fieldsOf(data).flatMap((field) => (field.inRow ? [] : [[field.path, field]])));
  const shown = fields.get(setup.field);
  if (!shown) add('/field', `names ${setup.field}, which is no field of this type`);
  if (!setup.aws_role && !setup.steps) add('', 'needs "aws_role" or "steps"');
  if (setup.key_pair && shown && !isPrivateKey(shown.field))
    add('/key_pair', `is for a private key: ${setup.field} has no "x-private-key": "plain"`);
  if (setup.aws_role && shown?.secret !== false) add('/aws_role', 'belongs to the setting with the role');
  if ((setup.aws_role?.statements?.length ?? 0) > MAX_STATEMENTS)
    add('/aws_role/statements', `has more than ${String(MAX_STATEMENTS)}: the CloudFormation template has no more`);

  for (const { pointer, text } of textsIn(setup, '')) {
    if (pointer.startsWith('/field') || pointer.startsWith('/documentation')) continue;
    for (const [, path = '', form] of text.matchAll(/\{\{([^{}:]+)(?::([^{}]*))?\}\}/g)) {
      if (path === 'partition' && form === undefined && setup.aws_role) continue;
      const named = fields.get(path);
      if (!named) add(pointer, `names ${path}, which is no field of this type`);
      else if (!named.secret) {
        if (form !== undefined && !SETTING_FORMS.includes(form))
          add(pointer, `shows ${path} as ${JSON.stringify(form)}: settings have ${oneOf(SETTING_FORMS)}, or none`);
      } else if (form === undefined || SECRET_FORMS[form]?.(named.field) !== true)
        add(pointer, `would show ${path}, or it has no such form: secrets have ${oneOf(Object.keys(SECRET_FORMS))}`);
      if (named?.secret === true && pointer.startsWith('/aws_role')) add(pointer, 'uses settings only');
    }
  }
  return problems;
}
