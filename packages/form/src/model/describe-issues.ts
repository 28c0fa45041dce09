import type { Issue } from '@connector-frame/catalog/types';
import type { Subject } from '../messages/en-issues.js';
import type { Messages } from '../messages/index.js';
import type { Field, SecretState } from './field.js';
import { findField, type Found } from './find-field.js';

/** A problem where the person sees it. */
export interface Problem {
  path: string;
  label: string;
  message: string;
}

/**
 * The sentences for `issues`, in the order the fields are shown, one per place. What stands on no field of the form is
 * left out.
 */
export function describeIssues(
  issues: readonly Issue[],
  fields: readonly Field[],
  secretAt: (path: string) => SecretState,
  messages: Messages,
  names: readonly string[],
): Problem[] {
  const rank = ({ path }: Problem): number => fields.findIndex((field) => `${path}/`.startsWith(`${field.path}/`));
  const problems = issues.flatMap((issue): Problem[] => {
    const found = findField(fields, issue.path);
    if (!found) return [];
    const { field, list, row } = found;
    // A choice has no place of its own beside the field that offers it.
    const path = field.kind === 'variants' ? field.path : issue.path;
    const label = list && row ? messages.row(list.label, row) : field.label;
    return [{ path, label, message: messages.issue(issue, subjectOf(found, secretAt, names)) }];
  });
  const places = new Map(problems.toReversed().map((problem) => [problem.path, problem]));
  return problems.filter((problem) => places.get(problem.path) === problem).toSorted((a, b) => rank(a) - rank(b));
}

function subjectOf({ field, cell }: Found, secretAt: (path: string) => SecretState, names: readonly string[]): Subject {
  const secret = field.kind === 'secret' ? secretAt(field.path) : undefined;
  const again =
    secret?.state === 'reentry' ? 'reentry' : secret?.state === 'typing' && secret.replaces ? 'replacing' : undefined;
  return {
    label: field.label,
    kind: cell ?? field.kind,
    names,
    ...(field.placeholder && { placeholder: field.placeholder }),
    ...(again && { secret: again }),
    ...(field.kind === 'number' && {
      integer: field.integer,
      ...(field.minimum !== undefined && { minimum: field.minimum }),
      ...(field.maximum !== undefined && { maximum: field.maximum }),
      ...(field.unit && { unit: field.unit }),
    }),
  };
}
