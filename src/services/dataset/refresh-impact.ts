import type { Chip, ReferenceFilter } from '../../../entities/dataset-reference.ts';
import type { RefreshBreak, RefreshPreview } from '../../../entities/refresh-preview.ts';
import { ApiError } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import type { VisualComponent } from '../../core/visual/component.ts';
import type { VisualConfig } from '../../core/visual/config.ts';
import { planVisual } from '../../core/visual/plan.ts';
import { parseAggregation } from './dataset-aggregate.ts';
import { parseColumns } from './dataset-data.ts';
import { referenceCriteria } from './reference-criteria.ts';
import { criteriaProblem } from './saved-filter-criteria.ts';

/** An object that uses fields of a dataset by name. */
export interface Dependent extends Omit<RefreshBreak, 'problem'> {
  /** Returns why it does not work with these fields, or null when it does. */
  problemWith(fields: readonly Field[]): string | null;
  /** The viewer may not read it. */
  hidden?: boolean;
}

/** Returns the dependents that work with the fields `before`, but not with the fields `after`. */
export function findBreaks(
  dependents: readonly Dependent[],
  before: readonly Field[],
  after: readonly Field[],
): Pick<RefreshPreview, 'breaks' | 'hiddenBreaks'> {
  const broken = dependents.flatMap(({ kind, id, reportId, name, hidden = false, problemWith }) => {
    const problem = problemWith(after);
    return problem === null || problemWith(before) !== null ? [] : [{ hidden, kind, id, reportId, name, problem }];
  });
  const visible = broken.filter(({ hidden }) => !hidden);
  return {
    breaks: visible.map(({ hidden: _hidden, ...one }) => one),
    hiddenBreaks: broken.length - visible.length,
  };
}

/** Returns why the data of a visual cannot be queried with these fields, or null when it can. */
export const visualProblem = (
  component: VisualComponent,
  config: VisualConfig,
  available: readonly Field[],
): string | null =>
  messageOf(() => {
    const fields = [...available];
    const plan = planVisual(component, config, new Map(fields.map(({ name, type }) => [name, type])));
    if (plan.kind === 'rows') parseColumns({ fields }, plan);
    else parseAggregation({ fields }, { ...plan, measures: [plan.measure] });
  });

/** Returns why a reference of a report does not work with these fields, or null when it does. */
export const referenceProblem = (
  { filter, chips }: { filter: ReferenceFilter; chips: readonly Chip[] },
  fields: readonly Field[],
): string | null =>
  criteriaProblem(referenceCriteria(filter), fields, false) ??
  missingFieldProblem(
    chips.map(({ field }) => field),
    fields,
    'Readers filter by',
  );

/** The parts of a share that depend on fields. */
interface ShareLimits {
  /** Null for all rows. */
  criteria: Record<string, unknown> | null;
  /** Null for all fields. */
  visible: readonly string[] | null;
  /** The viewer may not read the filter, so that no message may contain names from it. */
  secret: boolean;
}

/** Returns why a share does not work with these fields, or null when it does. */
export const shareProblem = ({ criteria, visible, secret }: ShareLimits, fields: readonly Field[]): string | null =>
  (criteria && criteriaProblem(criteria, fields, secret)) ?? missingFieldProblem(visible ?? [], fields, 'It shows');

function missingFieldProblem(names: readonly string[], fields: readonly Field[], use: string): string | null {
  const name = names.find((one) => !fields.some((field) => field.name === one));
  return name === undefined ? null : `${use} the field ${JSON.stringify(name)}, which does not exist`;
}

function messageOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.message;
  }
}
