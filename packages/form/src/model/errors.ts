import type { Issue } from '@connector-frame/catalog/types';
import type { Problem } from './problems.js';

/** What has been said to the person about the fields. */
export interface Errors {
  at: (path: string) => string | undefined;
  /** Of the last refused save or test: what is still wrong, in the order shown. */
  summary: () => readonly Problem[];
  /** The person left `path`: says what is wrong there, if it is due, and of what was said before only what is still wrong. */
  judge(path: string, due: (problem: Problem) => boolean): void;
  /** Says everything that is wrong, in the summary too. True: nothing is. */
  judgeAll(): boolean;
  /** Says what the service said. It stays until its own field is edited, for nothing here can check it. True: each found its field. */
  land(issues: readonly Issue[]): boolean;
  /** The person edited `path`: takes back what is no longer so, anywhere. Says nothing new. */
  forgive(path: string): void;
  /** Rows below `path` moved: what was said about one would stand on another. */
  forget(path: string): void;
}

const isAtOrBelow = (path: string, parent: string): boolean => `${path}/`.startsWith(`${parent}/`);

/** @param problemsWith everything that is wrong now, with issues of the service beside */
export function createErrors(
  problemsWith: (landed: readonly Issue[]) => Problem[],
  notify: (path: string) => void,
): Errors {
  let said = new Map<string, string>();
  let landed: readonly Issue[] = [];
  let listed = new Set<string>();
  let summary: readonly Problem[] = [];

  /** Says what is `due`, and again what was said in the same words. */
  const say = (due: (problem: Problem) => boolean, list = false): void => {
    const problems = problemsWith(landed).filter(
      (problem) => said.get(problem.path) === problem.message || due(problem),
    );
    const before = said;
    said = new Map(problems.map(({ path, message }) => [path, message]));
    for (const path of new Set([...before.keys(), ...said.keys()]))
      if (before.get(path) !== said.get(path)) notify(path);

    if (list) listed = new Set(said.keys());
    const length = summary.length;
    summary = problems.filter(({ path }) => listed.has(path));
    if (list || summary.length !== length) notify('*');
  };

  return {
    at: (path) => said.get(path),
    summary: () => summary,
    judge: (path, due) => say((problem) => isAtOrBelow(problem.path, path) && (said.has(problem.path) || due(problem))),
    judgeAll() {
      landed = [];
      say(() => true, true);
      return said.size === 0;
    },
    land(issues) {
      landed = issues;
      say(() => true, true);
      return said.size === issues.length;
    },
    forgive(path) {
      if (said.size === 0) return;
      landed = landed.filter((issue) => !isAtOrBelow(issue.path, path) && !isAtOrBelow(path, issue.path));
      say(() => false);
    },
    forget(path) {
      said = new Map([...said].filter(([at]) => at === path || !isAtOrBelow(at, path)));
    },
  };
}
