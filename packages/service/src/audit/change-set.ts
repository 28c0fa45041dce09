import { CONNECTOR_KINDS } from '@connector-frame/catalog';
import type { SecretNote } from '../store/store.js';
import type { AuditAction } from '../store/tables.js';
import { withSecrets, type Snapshot } from './snapshot.js';

/** One changed resource. */
export interface Change {
  action: AuditAction;
  resource: Snapshot;
  /** The log that the change belongs in. */
  organizationId: string;
  old: Record<string, unknown> | null;
  new: Record<string, unknown> | null;
  /** Pipelines that stopped using the component in the same transaction. */
  formerPipelines: readonly string[];
}

interface Entry {
  before: Snapshot | undefined;
  after: Snapshot | undefined;
  isWritten: boolean;
  /** Secrets before the first change of one; absent if none was changed. */
  notesBefore?: readonly SecretNote[];
  changedFields: Set<string>;
}

const NO_FIELDS: ReadonlySet<string> = new Set();

/** Collects what one transaction changes: each resource before its first and after its last write. */
export class ChangeSet {
  readonly #entries = new Map<string, Entry>();

  /** Keeps the state of a resource that was read and locked for a change. */
  locked(snapshot: Snapshot): void {
    if (this.#entries.has(snapshot.id)) return;
    this.#entries.set(snapshot.id, { before: snapshot, after: snapshot, isWritten: false, changedFields: new Set() });
  }

  inserted(snapshot: Snapshot): void {
    this.#entries.set(snapshot.id, {
      before: undefined,
      after: snapshot,
      isWritten: true,
      notesBefore: [],
      changedFields: new Set(),
    });
  }

  /** Returns whether the resource was locked or written in this transaction. */
  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** @throws TypeError if the resource was not locked in this transaction */
  updated(snapshot: Snapshot): void {
    Object.assign(this.#entry(snapshot.id), { after: snapshot, isWritten: true });
  }

  /** @throws TypeError if the resource was not locked in this transaction */
  removed(id: string): void {
    Object.assign(this.#entry(id), { after: undefined, isWritten: true });
  }

  /** Notes that the versions of connectors were incremented, which is no change by itself. */
  touched(ids: readonly string[]): void {
    for (const id of ids) {
      const entry = this.#entries.get(id);
      if (!entry?.after) continue;
      const { document } = entry.after;
      entry.after = { ...entry.after, document: { ...document, version: Number(document['version']) + 1 } };
    }
  }

  /** Returns whether the secrets of a connector must be passed to `secretsBefore` before a change. */
  needsSecrets(connectorId: string): boolean {
    return this.#entry(connectorId).notesBefore === undefined;
  }

  secretsBefore(connectorId: string, notes: readonly SecretNote[]): void {
    this.#entry(connectorId).notesBefore = notes;
  }

  /** @param isRotated whether its value is another one */
  secretWritten(connectorId: string, field: string, isRotated: boolean): void {
    const entry = this.#entry(connectorId);
    if (isRotated) entry.changedFields.add(field);
    entry.isWritten = true;
  }

  /** Returns the changed connectors that still exist, whose secrets `changes` needs. */
  get connectorIds(): string[] {
    return this.#written()
      .filter(({ after }) => after !== undefined && isConnector(after))
      .flatMap(({ after }) => (after ? [after.id] : []));
  }

  /** @param notes the present secrets of `connectorIds` */
  changes(notes: readonly SecretNote[]): Change[] {
    const written = this.#written();
    const former = formerPipelines(written);
    return written.flatMap((entry): Change[] => {
      const { before, after } = entry;
      const present = after?.isDeleted ? undefined : after;
      const past = before?.isDeleted ? undefined : before;
      const resource = present ?? past;
      if (!resource) return [];
      const action = !past ? 'insert' : present ? 'update' : 'delete';
      const own = notes.filter(({ connectorId }) => connectorId === resource.id);
      return [
        {
          action,
          resource,
          organizationId: (action === 'update' ? undefined : resource.parentId) ?? resource.organizationId,
          old: past ? documentOf(past, entry.notesBefore ?? own, NO_FIELDS) : null,
          new: present ? documentOf(present, own, entry.changedFields) : null,
          formerPipelines: former.get(resource.id) ?? [],
        },
      ];
    });
  }

  #written(): Entry[] {
    return [...this.#entries.values()].filter(({ isWritten }) => isWritten);
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry) return entry;
    throw new TypeError(`${id} is written without a lock in the same transaction. Its old state can't be recorded.`);
  }
}

const documentOf = (
  snapshot: Snapshot,
  notes: readonly SecretNote[],
  changed: ReadonlySet<string>,
): Record<string, unknown> => (isConnector(snapshot) ? withSecrets(snapshot, notes, changed) : snapshot.document);

const isConnector = ({ type }: Snapshot): boolean => CONNECTOR_KINDS.some((kind) => kind === type);

/** Returns the pipelines that had a component before the transaction and were changed by it. */
function formerPipelines(entries: readonly Entry[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { before } of entries) {
    for (const component of new Set(before?.components)) {
      found.set(component, [...(found.get(component) ?? []), before?.id ?? '']);
    }
  }
  return found;
}
