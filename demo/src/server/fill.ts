import { escape } from './html.js';

/**
 * Puts values into a page's template: `{{name}}` becomes the value as text, and an attribute that is only an empty value is left out. The result is
 * both what the page sends and what it shows as its source, so the two can't differ.
 * @throws Error for a name without a value
 */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  const valueOf = (name: string): string => {
    const value = values[name];
    if (value === undefined) throw new Error(`The template names {{${name}}}, which has no value.`);
    return escape(value);
  };
  return template
    .replace(/\s+[\w-]+="\{\{([\w-]+)\}\}"/g, (attribute, name: string) => (valueOf(name) === '' ? '' : attribute))
    .replace(/\{\{([\w-]+)\}\}/g, (_, name: string) => valueOf(name));
}
