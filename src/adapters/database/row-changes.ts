import type { EventSubscriber, FlushEventArgs, UnitOfWork } from '@mikro-orm/core';
import type { RowChange } from '../../core/platform.ts';

/** Records the rows that each unit of work has changed, over all of its flushes. */
export class RowChangeRecorder implements EventSubscriber {
  readonly #changes = new WeakMap<UnitOfWork, Map<object, RowChange>>();

  afterFlush({ uow }: Pick<FlushEventArgs, 'uow'>): void {
    for (const { entity, type, payload, originalEntity } of uow.getChangeSets()) {
      const changes = this.#changes.get(uow) ?? new Map<object, RowChange>();
      this.#changes.set(uow, changes);
      const earlier = changes.get(entity);
      const change = {
        type: type.replace('_early', '') as RowChange['type'],
        row: entity,
        fields: Object.keys(payload),
        before: originalEntity ?? {},
      };
      changes.set(entity, earlier ? mergeChanges(earlier, change) : change);
    }
  }

  /** Returns the changes of a unit of work, at most one a row. */
  changesOf(uow: UnitOfWork): readonly RowChange[] {
    return [...(this.#changes.get(uow)?.values() ?? [])];
  }
}

/** Merges two changes of a row in one transaction: a row that was created in it stays created. */
const mergeChanges = (first: RowChange, second: RowChange): RowChange => ({
  type: first.type === 'create' ? 'create' : second.type,
  row: first.row,
  fields: [...new Set([...first.fields, ...second.fields])],
  before: { ...second.before, ...first.before },
});
