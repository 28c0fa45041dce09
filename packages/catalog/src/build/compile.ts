import { addAliases } from './add-aliases.js';
import { isPlain } from '../validate/objects.js';
import type { ConnectorTypeData } from '../types.js';
import { checkAwsObjects } from './check-aws-objects.js';
import { checkCatalog, type SourceType } from './check-catalog.js';
import { checkCopy } from './check-copy.js';
import { checkDelivery } from './check-delivery.js';
import { checkFields } from './check-fields.js';
import { checkFormat, isConnectorType } from './check-format.js';
import { checkLinks } from './check-links.js';
import { checkOAuth, checkProviders, resolveOAuth } from './check-oauth.js';
import { checkPoll } from './check-poll.js';
import { checkReceive } from './check-receive.js';
import { checkSetup } from './check-setup.js';
import { checkTransport, readNotTransport, unusedExceptions, type NotTransport } from './check-transport.js';
import { complete } from './complete.js';
import type { Problem } from './problem.js';
import type { Sources } from './read-sources.js';
import { resolveRefs, unusedFragments } from './resolve-refs.js';

export interface Compiled {
  /** Sorted by name. */
  types: ConnectorTypeData[];
  problems: Problem[];
}

/**
 * Compiles sources to types: resolves references, fills in implied values, and runs every check.
 * Does not access the file system.
 */
export function compile(sources: Sources): Compiled {
  const problems: Problem[] = [...sources.problems];
  const types: SourceType[] = [];
  const used = new Set<string>();
  const { entries: exceptions, problems: unreadable } = readNotTransport(sources.notTransport);
  problems.push(...unreadable);
  const usedExceptions = new Set<NotTransport>();
  const usedProviders = new Set<string>();
  for (const source of sources.types) {
    const resolved = resolveRefs(source, sources.fragments);
    problems.push(...resolved.problems);
    for (const ref of resolved.used) used.add(ref);
    const { file } = source;
    const data = complete(resolved.value);
    if (!isConnectorType(data)) {
      problems.push(...checkFormat({ file, value: data }));
      continue;
    }
    if (data.oauth) usedProviders.add(data.oauth.provider);
    const type = resolveOAuth(data, sources.providers);
    const found = [
      ...checkFields(file, type),
      ...checkLinks(file, type),
      ...checkCopy(file, type),
      ...checkPoll(file, type),
      ...checkDelivery(file, type),
      ...checkReceive(file, type),
      ...checkSetup(file, type),
      ...checkAwsObjects(file, type),
      ...checkUnavailable(file, type),
      ...checkOAuth(file, type, sources.providers),
      ...checkTransport(file, type, exceptions, usedExceptions),
    ];
    problems.push(...found);
    types.push({ file, data: type });
  }
  problems.push(...checkProviders(sources.providers, usedProviders));
  problems.push(...unusedFragments(sources.fragments, used));
  problems.push(...unusedExceptions(sources.notTransport.file, exceptions, usedExceptions));
  const icons = isPlain(sources.icons.value) ? Object.keys(sources.icons.value) : [];
  problems.push(...checkCatalog(types, new Set(icons)));
  const named = addAliases(types, sources.vendorAliases);
  problems.push(...named.problems);
  return {
    types: named.types.sort((a, b) => a.name.localeCompare(b.name, 'en')),
    problems,
  };
}

/** What can't run is neither read nor received. */
const checkUnavailable = (
  file: string,
  { unavailable, poll, receive, aws_objects: objects }: ConnectorTypeData,
): Problem[] =>
  unavailable && (poll ?? receive ?? objects)
    ? [
        {
          file,
          pointer: '/unavailable',
          message: 'is for types that will never run: this one has "poll", "receive" or "aws_objects"',
        },
      ]
    : [];
