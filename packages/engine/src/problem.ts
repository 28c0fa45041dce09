/** A problem with a pipeline, a condition or a transform, found when it is saved. */
export interface Problem {
  /** JSON Pointer relative to the validated value: `/edges/0/conditions/operator`. */
  readonly path: string;
  /** A stable code. */
  readonly code:
    | 'type'
    | 'required'
    | 'unknown'
    | 'not_supported'
    | 'too_many'
    | 'too_deep'
    | 'too_long'
    | 'duplicate'
    | 'dangling'
    | 'cycle'
    | 'shape'
    | 'invalid';
  /** What is wrong and what to do. */
  readonly message: string;
}

/** Collects problems; `at` returns a collector for a nested path. */
export class Problems {
  readonly list: Problem[];
  readonly #path: string;

  constructor(list: Problem[] = [], path = '') {
    this.list = list;
    this.#path = path;
  }

  at(...keys: readonly (string | number)[]): Problems {
    const steps = keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`);
    return new Problems(this.list, this.#path + steps.join(''));
  }

  add(code: Problem['code'], message: string): void {
    this.list.push({ path: this.#path, code, message });
  }
}

/** Formats a value for a message as short JSON. Must not be used for secrets. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
