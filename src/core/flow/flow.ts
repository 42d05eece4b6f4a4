/** A step of a dataset's flow (docs/contract/datasets.md#flow), checked when it is saved. */
export type FlowStep =
  | { type: 'filter'; criteria: Record<string, unknown> }
  | { type: 'sort'; field: string; order: 'asc' | 'desc' }
  | { type: 'limit'; n: number }
  | { type: 'rename'; field: string; to: string }
  | { type: 'remove'; fields: string[] }
  | { type: 'calculate'; field: string; expression: string };

/** Returns whether a flow has as many rows as the query. */
export const keepsRowCount = (flow: readonly FlowStep[]): boolean =>
  !flow.some(({ type }) => type === 'filter' || type === 'limit');
