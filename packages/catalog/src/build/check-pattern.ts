import { isSafePattern } from 'redos-detector';

/**
 * Returns whether `|` appears outside every group and class. The anchors would then apply to one
 * alternative each.
 */
function hasOpenAlternative(pattern: string): boolean {
  let depth = 0;
  let inClass = false;
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern[index];
    if (char === '\\') index++;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === '|' && depth === 0) return true;
  }
  return false;
}

const known = new Map<string, string | undefined>();

/**
 * Returns what is wrong with a `pattern`, or undefined if it compiles with the `u` flag, is
 * anchored, and takes linear time on any input.
 */
export function patternProblem(pattern: string): string | undefined {
  if (!known.has(pattern)) known.set(pattern, findProblem(pattern));
  return known.get(pattern);
}

function findProblem(pattern: string): string | undefined {
  try {
    void new RegExp(pattern, 'u');
  } catch (error) {
    return `does not compile: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!pattern.startsWith('^') || !/(?<!\\)(?:\\\\)*\$$/.test(pattern))
    return 'must be anchored: begin with "^" and end with "$"';
  if (hasOpenAlternative(pattern)) return 'must be anchored as a whole: put the alternatives in a group, "^(?:a|b)$"';
  const { safe } = isSafePattern(pattern, { unicode: true, maxScore: 50, maxSteps: 5000 });
  return safe ? undefined : 'may take more than linear time on a hostile text: make repetitions exclude each other';
}
