import { escape } from './html.js';

/**
 * Fills a page template: `{{name}}` becomes the escaped value, and an attribute whose whole value
 * is empty is omitted. The page both sends the result and shows it as its source, so the two can't
 * differ.
 * @throws Error if a name has no value
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
