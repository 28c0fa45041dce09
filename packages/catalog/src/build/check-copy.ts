/** User-facing texts: present, short, and punctuated. */
import type { ConnectorTypeData } from '../types.js';
import { isUnion } from '../validate/schema.js';
import { INPUT_CATEGORIES, OUTPUT_CATEGORIES } from './categories.js';
import { oneOf, type Problem } from './problem.js';
import { fieldsOf } from './walk.js';

const LIMITS = { name: 60, title: 40, description: 140, 'x-message': 140, 'x-unit': 20 };

function copyProblem(text: string, limit: number, sentence: boolean): string | undefined {
  if (text !== text.trim() || /\s{2}|[\n\t]/.test(text)) return 'has stray spaces: trim them';
  if (/[<>]/.test(text)) return 'is plain text: no markup';
  if (text.length > limit) return `is ${String(text.length)} characters long: say it in ${String(limit)}`;
  if (sentence && !/[.?]$/.test(text)) return 'is a sentence: end it with a period';
  return !sentence && text.endsWith('.') ? 'is a label: no period at the end' : undefined;
}

/** Checks every user-facing text of a type. */
export function checkCopy(file: string, data: ConnectorTypeData): Problem[] {
  const problems: Problem[] = [];
  const add = (pointer: string, message: string): void => void problems.push({ file, pointer, message });
  const check = (pointer: string, text: string | undefined, limit: number, sentence: boolean): void => {
    const problem = text === undefined ? undefined : copyProblem(text, limit, sentence);
    if (problem !== undefined) add(pointer, problem);
  };

  check('/name', data.name, LIMITS.name, false);
  check('/description', data.description, LIMITS.description, true);
  check('/setup/title', data.setup?.title, LIMITS.name, false);
  data.setup?.steps?.forEach(({ title }, index) => {
    check(`/setup/steps/${String(index)}/title`, title, LIMITS.name, false);
  });
  const categories: readonly string[] = data.kind === 'output' ? OUTPUT_CATEGORIES : INPUT_CATEGORIES;
  if (!categories.includes(data.category))
    add('/category', `is no category of ${data.kind}s: use ${oneOf(categories)}`);

  for (const { pointer, field, secret, depth } of fieldsOf(data)) {
    check(`${pointer}/title`, field.title, LIMITS.title, false);
    check(`${pointer}/description`, field.description, LIMITS.description, true);
    if (secret && depth === 1 && field.description === undefined)
      add(pointer, 'needs "description": where in the vendor\'s console the secret is found');
    if (isUnion(field))
      field.oneOf.forEach((variant, index) => {
        check(`${pointer}/oneOf/${String(index)}/title`, variant.title, LIMITS.title, false);
        check(`${pointer}/oneOf/${String(index)}/description`, variant.description, LIMITS.description, true);
      });
    else if (field.type === 'string') {
      check(`${pointer}/x-message`, field['x-message'], LIMITS['x-message'], true);
      const labels = Object.keys(field['x-labels'] ?? {});
      const values = field.enum ?? [];
      const missing = values.filter((value) => !labels.includes(value));
      const extra = labels.filter((label) => !values.includes(label));
      if (missing.length > 0) add(`${pointer}/x-labels`, `needs a label for ${oneOf(missing)}`);
      if (extra.length > 0) add(`${pointer}/x-labels`, `labels ${oneOf(extra)}, which is not in "enum"`);
    } else if (field.type === 'integer' || field.type === 'number')
      check(`${pointer}/x-unit`, field['x-unit'], LIMITS['x-unit'], false);
  }
  return problems;
}
