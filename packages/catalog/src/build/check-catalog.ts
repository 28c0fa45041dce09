/** Checks across files. */
import type { ConnectorTypeData } from '../types.js';
import { oneOf, type Problem } from './problem.js';
import { fieldsOf } from './walk.js';

export interface SourceType {
  file: string;
  data: ConnectorTypeData;
}

/** Checks file names, and that no two types share a name or have conflicting icons. */
export function checkCatalog(types: readonly SourceType[], icons: ReadonlySet<string>): Problem[] {
  const problems: Problem[] = [];
  const names = new Map<string, string>();
  const marks = new Map<string, { file: string; icon: string | undefined }>();
  for (const { file, data } of types) {
    const home = `types/${data.kind}s/${data.type_id}.json`;
    if (file !== home)
      problems.push({ file, pointer: '/type_id', message: `belongs in ${home}: rename the file or the type` });

    const name = `${data.kind} ${data.name.toLowerCase()}`;
    const other = names.get(name);
    if (other !== undefined)
      problems.push({
        file,
        pointer: '/name',
        message: `is also the name of ${other}: people could not tell them apart`,
      });
    names.set(name, file);

    if (data.icon !== undefined && !icons.has(data.icon))
      problems.push({
        file,
        pointer: '/icon',
        message: `${oneOf([data.icon])} is not in icons.json: add it there, or leave it out`,
      });
    const twin = marks.get(data.type_id);
    // The icon's URL does not contain the kind.
    if (twin && twin.icon !== data.icon)
      problems.push({
        file,
        pointer: '/icon',
        message: `must be the icon of ${twin.file}: both have the same type_id`,
      });
    marks.set(data.type_id, { file, icon: data.icon });
  }
  const outputs = new Set(types.flatMap(({ data }) => (data.kind === 'output' ? [data.type_id] : [])));
  for (const { file, data } of types)
    for (const { field, pointer, depth, secret } of fieldsOf(data)) {
      const output = field.type === 'string' ? field['x-output'] : undefined;
      if (output === undefined) continue;
      if (secret || depth !== 1)
        problems.push({ file, pointer, message: '"x-output" is for settings at the top level' });
      if (!outputs.has(output))
        problems.push({ file, pointer: `${pointer}/x-output`, message: `names ${output}, which is no type of output` });
    }
  const used = new Set(types.map(({ data }) => data.icon));
  for (const icon of icons)
    if (!used.has(icon))
      problems.push({ file: 'icons.json', pointer: `/${icon}`, message: 'no type uses this icon: delete it' });
  return problems;
}
