import { isObject } from '../criteria/value.ts';
import { applyStep, type OpenColumn } from './check.ts';
import { parseExpression } from './expression.ts';
import type { FlowStep } from './flow.ts';
import { inStep } from './in-step.ts';
import { typeExpression } from './typing.ts';

/** Stands for the columns of the source that no step names. No field has this name. */
const OTHERS: OpenColumn = { name: '\0', type: 'unknown' };

/**
 * Checks a flow whose source is not known: finds mistakes that do not depend on the columns of the source. A field is
 * assumed to be a column of the source, of any type, unless an earlier step has created, renamed or removed it.
 *
 * Throws BAD_USER_INPUT naming the step and the invalid part.
 */
export function checkAnyColumns(steps: readonly FlowStep[]): void {
  let columns = [OTHERS];
  const gone = new Set<string>();
  for (const [i, step] of steps.entries())
    inStep(i, step.type, () => {
      const before = [...columns, ...assumed(step, columns, gone)];
      columns = applyStep<OpenColumn>(step, before, (name, type) => ({ name, type }));
      for (const { name } of before) gone.add(name);
      for (const { name } of columns) gone.delete(name);
    });
}

/** Returns the columns of the source that a step is the first to name. */
function assumed(step: FlowStep, columns: readonly OpenColumn[], gone: ReadonlySet<string>): OpenColumn[] {
  const known = new Set([...columns.map(({ name }) => name), ...gone]);
  return [...new Set(fieldsOf(step))].filter((name) => !known.has(name)).map((name) => ({ name, type: 'unknown' }));
}

/** Returns the names of the fields that a step reads. */
function fieldsOf(step: FlowStep): string[] {
  switch (step.type) {
    case 'filter':
      return criteriaFields(step.criteria);
    case 'sort':
    case 'rename':
      return [step.field];
    case 'remove':
      return step.fields;
    case 'limit':
      return [];
    case 'calculate': {
      const names: string[] = [];
      typeExpression(parseExpression(step.expression), (name) => {
        names.push(name);
        return 'unknown';
      });
      return names;
    }
  }
}

/** Returns the keys at the places of fields. A key that begins with `$` is an operator there. */
function criteriaFields(criteria: Record<string, unknown>): string[] {
  const names: string[] = [];
  const waiting: unknown[] = [criteria];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (Array.isArray(part)) for (const item of part) waiting.push(item);
    else if (isObject(part))
      for (const [key, value] of Object.entries(part))
        if (key === '$and' || key === '$or' || key === '$not') waiting.push(value);
        else if (!key.startsWith('$')) names.push(key);
  }
  return names;
}
