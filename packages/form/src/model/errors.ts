import type { Issue } from '@connector-frame/catalog/types';
import type { Problem } from './problems.js';

/** The errors that are displayed on the fields. */
export interface Errors {
  at: (path: string) => string | undefined;
  /** Returns the remaining problems of the last rejected save or test, in display order. */
  summary: () => readonly Problem[];
  /**
   * Validates after the user left `path`. Displays the problems there that are `due` or replace a
   * displayed error, and removes displayed errors that no longer apply.
   */
  judge(path: string, due: (problem: Problem) => boolean): void;
  /** Displays all problems, and lists them in the summary. Returns true if there are none. */
  judgeAll(): boolean;
  /**
   * Displays the service's issues. Each stays until its field is edited, because the form cannot
   * check it. Returns true if one matched a field.
   *
   * @param list whether the summary lists them
   */
  applyServerIssues(issues: readonly Issue[], list: boolean): boolean;
  /**
   * Removes errors anywhere that no longer apply after the user edited `path`. Displays no new
   * ones.
   */
  clearResolved(path: string): void;
  /**
   * Forgets the errors below `path`: after rows have shifted, they would be displayed on the wrong
   * row.
   */
  forget(path: string): void;
}

const isAtOrBelow = (path: string, parent: string): boolean => `${path}/`.startsWith(`${parent}/`);

/** @param problemsWith returns all current problems, including the given issues of the service */
export function createErrors(
  problemsWith: (serverIssues: readonly Issue[]) => Problem[],
  notify: (path: string) => void,
): Errors {
  let displayed = new Map<string, string>();
  let serverIssues: readonly Issue[] = [];
  let listed = new Set<string>();
  let summary: readonly Problem[] = [];

  /**
   * Displays the problems that are `due`, and keeps displayed ones whose message is unchanged.
   *
   * @param list whether the summary lists the displayed problems
   */
  const display = (due: (problem: Problem) => boolean, list = false): void => {
    const problems = problemsWith(serverIssues).filter(
      (problem) => displayed.get(problem.path) === problem.message || due(problem),
    );
    const before = displayed;
    displayed = new Map(problems.map(({ path, message }) => [path, message]));
    for (const path of new Set([...before.keys(), ...displayed.keys()]))
      if (before.get(path) !== displayed.get(path)) notify(path);

    if (list) listed = new Set(displayed.keys());
    const length = summary.length;
    summary = problems.filter(({ path }) => listed.has(path));
    if (list || summary.length !== length) notify('*');
  };

  return {
    at: (path) => displayed.get(path),
    summary: () => summary,
    judge: (path, due) =>
      display((problem) => isAtOrBelow(problem.path, path) && (displayed.has(problem.path) || due(problem))),
    judgeAll() {
      serverIssues = [];
      display(() => true, true);
      return displayed.size === 0;
    },
    applyServerIssues(issues, list) {
      serverIssues = issues;
      display(() => true, list);
      return displayed.size > 0;
    },
    clearResolved(path) {
      if (displayed.size === 0) return;
      serverIssues = serverIssues.filter((issue) => !isAtOrBelow(issue.path, path) && !isAtOrBelow(path, issue.path));
      display(() => false);
    },
    forget(path) {
      displayed = new Map([...displayed].filter(([at]) => at === path || !isAtOrBelow(at, path)));
    },
  };
}
