/** Other names of types: those in their files, those of their vendors, and the vendors' names. */
import type { ConnectorTypeData } from '../types.js';
import { isPlain } from '../validate/objects.js';
import { joinPointer } from '../validate/pointer.js';
import type { SourceType } from './check-catalog.js';
import type { Problem } from './problem.js';
import type { SourceFile } from './read-sources.js';
import { aliasList } from './words.js';

/** The vendor of types that are nobody's product. */
const NO_VENDOR = 'Generic';

/**
 * Returns the types with all their aliases.
 * @param vendors other names of vendors, by vendor
 */
export function addAliases(
  types: readonly SourceType[],
  { file, value }: SourceFile,
): { types: ConnectorTypeData[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const byVendor = new Map<string, readonly string[]>();
  const vendors = new Set(types.map(({ data }) => data.vendor));
  for (const [vendor, aliases] of Object.entries(isPlain(value) ? value : {})) {
    const pointer = joinPointer('', vendor);
    const expected = aliasList(aliases);
    if (expected !== undefined) problems.push({ file, pointer, message: `must be ${expected}` });
    else if (Array.isArray(aliases)) byVendor.set(vendor, aliases.map(String));
    if (!vendors.has(vendor)) problems.push({ file, pointer, message: 'is the vendor of no type: delete it' });
  }
  return {
    problems,
    types: types.map(({ data }) => {
      const { name, vendor, aliases = [] } = data;
      const maker = vendor === NO_VENDOR || name.toLowerCase().includes(vendor.toLowerCase()) ? [] : [vendor];
      const all = [...new Set([...aliases, ...(byVendor.get(vendor) ?? []), ...maker])];
      return all.length > 0 ? { ...data, aliases: all } : data;
    }),
  };
}
