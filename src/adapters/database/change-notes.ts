import type { EventSubscriber, FlushEventArgs, UnitOfWork } from '@mikro-orm/core';
import type { RowChange } from '../../core/platform.ts';

/** Remembers what each unit of work wrote, however often it was flushed on the way. */
export class ChangeNotes implements EventSubscriber {
  readonly #notes = new WeakMap<UnitOfWork, Map<object, RowChange>>();

  afterFlush({ uow }: Pick<FlushEventArgs, 'uow'>): void {
    for (const { entity, type, payload, originalEntity } of uow.getChangeSets()) {
      const notes = this.#notes.get(uow) ?? new Map<object, RowChange>();
      this.#notes.set(uow, notes);
      const known = notes.get(entity);
      const change = {
        type: type.replace('_early', '') as RowChange['type'],
        row: entity,
        fields: Object.keys(payload),
        before: originalEntity ?? {},
      };
      notes.set(entity, known ? merged(known, change) : change);
    }
  }

  of(uow: UnitOfWork): readonly RowChange[] {
    return [...(this.#notes.get(uow)?.values() ?? [])];
  }
}

/** Two changes of a row in one transaction are one: what was new stays new, what is gone is gone. */
const merged = (first: RowChange, second: RowChange): RowChange => ({
  type: first.type === 'create' ? 'create' : second.type,
  row: first.row,
  fields: [...new Set([...first.fields, ...second.fields])],
  before: { ...second.before, ...first.before },
});
