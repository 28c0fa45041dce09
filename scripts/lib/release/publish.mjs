import { command } from './command.mjs';
import { settingsOf } from './local-registry.mjs';

/**
 * Publishes tarballs in their order. Skips those that the registry already has, so that a run can
 * be repeated after it failed halfway.
 * @param tarballs results of `packPackages`
 * @param registry URL of a local registry. Default: npm's configured registry
 * @param provenance whether npm adds a provenance statement, which takes a CI with OpenID Connect
 * @returns the names that were published now
 * @throws Error if the registry has the version with other content
 */
export async function publish(tarballs, { registry, provenance }) {
  const target = registry === undefined ? [] : settingsOf(registry).map((setting) => `--${setting}`);
  const published = [];
  for (const { name, version, file, integrity } of tarballs) {
    const existing = await publishedIntegrity(`${name}@${version}`, target);
    if (existing === integrity) continue;
    if (existing !== undefined)
      throw new Error(
        `${name}@${version} is already published with other content (${existing}, here ${integrity}). ` +
          'A published version never changes: release a new one.',
      );
    // A pre-release must not become what "npm install" chooses.
    const tag = version.includes('-') ? 'next' : 'latest';
    await command('npm', [
      'publish',
      file,
      '--access=public',
      `--provenance=${provenance}`,
      `--tag=${tag}`,
      '--ignore-scripts',
      '--loglevel=error',
      ...target,
    ]);
    published.push(name);
  }
  return published;
}

async function publishedIntegrity(specifier, target) {
  try {
    const output = await command('npm', ['view', specifier, 'dist.integrity', '--json', '--prefer-online', ...target]);
    return output.trim() === '' ? undefined : JSON.parse(output);
  } catch (error) {
    if (/\bE404\b/.test(error.message)) return undefined;
    throw error;
  }
}
