import type { Problem } from './describe-issues.js';

/** What has been said to the person about each field. */
export interface ErrorBoard {
  at(path: string): string | undefined;
  /** Of the last refused save: what is still wrong, in the order shown. */
  readonly summary: readonly Problem[];
  /** After a save was refused here: exactly these. */
  refuse(problems: readonly Problem[]): void;
  /** After the service refused: these beside the others. They stay until their own field is edited, for nothing here can check them. */
  land(problems: readonly Problem[]): void;
  /** The person left `path`: what is wrong at and below it. */
  judge(path: string, problems: readonly Problem[]): void;
  /** The person edited `path`: takes away what is no longer wrong, anywhere. Says nothing new. */
  forgive(path: string, problems: () => readonly Problem[]): void;
  /** Rows below `path` moved: what was said about them may be about others now. */
  forget(path: string): void;
}

const isAtOrBelow = (path: string, parent: string): boolean => path === parent || path.startsWith(`${parent}/`);

export function createErrorBoard(notify: (path: string) => void, onSummary: () => void): ErrorBoard {
  const errors = new Map<string, string>();
  const landed = new Set<string>();
  let listed: readonly Problem[] = [];
  let summary: readonly Problem[] = [];

  const set = (path: string, message: string | undefined): void => {
    if (errors.get(path) === message) return;
    if (message === undefined) errors.delete(path);
    else errors.set(path, message);
    notify(path);
  };

  const list = (problems: readonly Problem[]): void => {
    listed = problems;
    summary = problems.filter(({ path }) => errors.has(path));
    onSummary();
  };

  const shrink = (): void => {
    if (summary.some(({ path }) => !errors.has(path))) list(listed);
  };

  const replace = (problems: readonly Problem[], affected: (path: string) => boolean): void => {
    const next = new Map(problems.map(({ path, message }) => [path, message]));
    for (const path of [...errors.keys()])
      if (affected(path) && !next.has(path) && !landed.has(path)) set(path, undefined);
    for (const [path, message] of next) if (affected(path)) set(path, message);
  };

  return {
    at: (path) => errors.get(path),
    get summary() {
      return summary;
    },
    refuse(problems) {
      landed.clear();
      replace(problems, () => true);
      list(problems);
    },
    land(problems) {
      for (const { path, message } of problems) {
        landed.add(path);
        set(path, message);
      }
      list(problems);
    },
    judge(path, problems) {
      replace(problems, (affected) => isAtOrBelow(affected, path));
      shrink();
    },
    forgive(path, problems) {
      if (errors.size === 0) return;
      for (const known of [...landed]) if (isAtOrBelow(known, path) || isAtOrBelow(path, known)) landed.delete(known);
      const still = new Set(problems().map((problem) => problem.path));
      for (const known of [...errors.keys()]) if (!still.has(known) && !landed.has(known)) set(known, undefined);
      shrink();
    },
    forget(path) {
      for (const known of [...errors.keys()]) {
        if (!known.startsWith(`${path}/`)) continue;
        landed.delete(known);
        set(known, undefined);
      }
      shrink();
    },
  };
}
