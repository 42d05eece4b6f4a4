/** A step of a dataset's flow (contract, section 7), checked when it is saved. */
export type FlowStep =
  | { type: 'filter'; criteria: Record<string, unknown> }
  | { type: 'sort'; field: string; order: 'asc' | 'desc' }
  | { type: 'limit'; n: number }
  | { type: 'rename'; field: string; to: string }
  | { type: 'remove'; fields: string[] }
  | { type: 'calculate'; field: string; expression: string };
