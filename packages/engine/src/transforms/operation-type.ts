import type { DataRecord } from '../connector-api/record.js';
import { ConnectorError } from '../connector-api/connector-error.js';
import type { Problems } from '../problem.js';
import { readArguments, type Arguments, type ValuesOf } from './arguments.js';
import type { BatchStage, Operation, ResolveSecret, Transform } from './operation.js';
import { readReferences, type SecretSpecs } from './secret-references.js';

/** Compiles an operation whose arguments are valid. */
export type CompileOperation = (resolveSecret: ResolveSecret | undefined) => Transform | BatchStage;

/** A type of operation, independent of the types of its arguments. */
export interface OperationType {
  readonly id: string;
  /** Other names that are accepted. */
  readonly aliases: readonly string[];
  readonly name: string;
  readonly description: string;
  readonly arguments: Arguments;
  readonly secrets: SecretSpecs;
  /** Validates an operation and returns how to compile it, or `undefined` if it adds problems. */
  prepare(operation: GivenOperation, problems: Problems): CompileOperation | undefined;
}

/** The parts of an operation that its type validates. */
export interface GivenOperation {
  readonly arguments: DataRecord;
  readonly secrets: Operation['secrets'];
}

/** Returns the value of a secret by the name that the operation gives it. */
export type SecretOf = (name: string) => string;

interface Definition<S extends Arguments> {
  id: string;
  aliases?: readonly string[];
  name: string;
  description: string;
  arguments: S;
  secrets?: SecretSpecs;
  /**
   * Checks what depends on several arguments.
   * @param secrets names of the secrets that the operation refers to
   */
  check?(values: ValuesOf<S>, problems: Problems, secrets: ReadonlySet<string>): void;
  compile(values: ValuesOf<S>, secretOf: SecretOf): Transform | BatchStage;
}

/** Defines a type of operation. Its arguments are validated and typed by their specifications. */
export function defineOperation<const S extends Arguments>(definition: Definition<S>): OperationType {
  const { aliases = [], secrets = {}, ...rest } = definition;
  return {
    ...rest,
    aliases,
    secrets,
    prepare(given, problems) {
      const before = problems.list.length;
      const values = readArguments(definition.arguments, given.arguments, problems.at('arguments'), definition.id);
      const references = readReferences(secrets, given.secrets, problems.at('secrets'), definition.id);
      if (problems.list.length === before) definition.check?.(values, problems, new Set(references.keys()));
      if (problems.list.length > before) return undefined;
      return (resolveSecret) => definition.compile(values, (name) => valueOf(references.get(name), resolveSecret));
    },
  };
}

function valueOf(id: string | undefined, resolveSecret: ResolveSecret | undefined): string {
  const value = id === undefined ? undefined : resolveSecret?.(id);
  if (value !== undefined) return value;
  const message = 'A secret that an operation of this transform refers to is missing. Choose another one.';
  throw new ConnectorError('secret_unreadable', message, 'permanent');
}
