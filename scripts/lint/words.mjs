/**
 * Phrases that comments, messages, log lines and documentation do without, and what to write instead.
 * The list is short on purpose: each of its entries is wrong nearly every time it is found.
 */
export const phrases = [
  [/\banew\b/, 'again, from the start'],
  [/\bmend(s|ed|ing)?\b/, 'fix, repair, correct'],
  [/(?<!\b(secrets?|encrypted|data|encryption) )\bat rest\b/, 'idle, paused, stopped'],
  [/\b(come|comes|came|coming) again\b/, 'is delivered again, repeats, retries'],
  [/\b(am|is|are|was|were|be|been|being) told\b/, 'is notified, receives, is reported; name who reports it'],
  [/\bnobody (asks|asked|knows|hears|waits|wants|listens)\b/, 'no caller, no listener; say what does not happen'],
  [/\bwhoever\b/, 'the caller, the client, the reader'],
  [/\bof (our|one's|somebody's) own\b/, 'our own before the noun, or nothing'],
  [/\b(stand|stands|stood) in\b(?! for)/, 'is in, contains, replaces'],
  [/(^|[.] )(Those|That) of\b/, 'name the thing again'],
  [/\bwhat (was|is) (asked|begun|seen|wanted|wished)\b/, 'the request, the progress, the observed or desired state'],
  [/\bunder way\b/, 'in progress, in flight, running'],
  [/\bfor good\b/, 'permanently'],
  [/\bno more than that\b/, 'nothing else, or leave it out'],
  [/\bwished?\b/, 'desired, requested'],
  [/\b(bury|buries|buried)\b/, 'move to the dead letters'],
  [/\bat work\b/, 'running, active'],
  [/\bthe way out\b/, 'egress, the egress guard'],
  [/\b(is|are) gone over\b/, 'is evaluated, is traversed'],
  [/\ba stranger\b|\bstrangers\b/, 'an anonymous or unauthenticated caller'],
];

/**
 * Finds the phrases in a text.
 *
 * @param {string} text
 * @returns {{ index: number, found: string, instead: string }[]}
 */
export function findPhrases(text) {
  const all = phrases.flatMap(([pattern, instead]) =>
    Array.from(text.matchAll(new RegExp(pattern, 'gim')), ({ index, 0: found }) => ({
      index,
      found: found.trim(),
      instead,
    })),
  );
  return all.sort((one, other) => one.index - other.index);
}
