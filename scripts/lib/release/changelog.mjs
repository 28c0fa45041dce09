import { formatted } from '../format.mjs';

const sections = { major: 'Major changes', minor: 'Minor changes', patch: 'Patch changes' };
const rank = ['major', 'minor', 'patch'];

/** Returns whether the changelog has a dated section of the version: `## 0.1.0 (2026-01-31)`. */
export const isDated = (changelog, version) => headings(changelog).some((line) => dated(version).test(line));

const headings = (changelog) => changelog.split('\n').filter((line) => line.startsWith('## '));
const dated = (version) => new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)$`);

/**
 * Writes the changes of a version into the changelog, and dates its section.
 * @param changelog text of CHANGELOG.md
 * @param date `2026-01-31`
 * @param changesets as `@changesets/read` returns them
 */
export async function withRelease(changelog, version, date, changesets) {
  const heading = `## ${version} (${date})`;
  const existing = headings(changelog).find(
    (line) => line === `## ${version} (unreleased)` || dated(version).test(line),
  );
  const changes = await sectionsOf(changesets);
  if (existing !== undefined) return changelog.replace(existing, () => [heading, ...changes].join('\n\n'));
  const section = [heading, ...changes, ''].join('\n\n');
  const first = changelog.search(/^## /m);
  return first === -1
    ? `${changelog.trimEnd()}\n\n${section.trimEnd()}\n`
    : changelog.slice(0, first) + section + changelog.slice(first);
}

/** Returns Markdown sections with one list item for each changeset. */
async function sectionsOf(changesets) {
  const texts = [];
  for (const type of rank) {
    const items = changesets
      .filter(({ releases }) => rank.find((one) => releases.some((release) => release.type === one)) === type)
      .map(itemOf);
    if (items.length > 0) texts.push(`### ${sections[type]}`, items.join('\n'));
  }
  const options = { proseWrap: 'always', printWidth: 100 };
  return texts.length === 0 ? [] : [(await formatted('CHANGELOG.md', texts.join('\n\n'), options)).trim()];
}

/** `- **core**, **react**: Summary`, with further lines of the summary inside the item. */
function itemOf({ releases, summary }) {
  const names = releases.map(({ name }) => `**${name.split('/').at(-1)}**`).join(', ');
  return `- ${names}: ${summary.trim().replaceAll('\n', '\n  ')}`;
}
