/** `prepare`: load what every task needs, before a task is known. */
export type ToLetterheadProcess = { kind: 'prepare' } | { kind: 'lay'; printed: Uint8Array; letterhead: Uint8Array };

export type FromLetterheadProcess =
  /** The letterhead was read. The next steps depend on the printed document only. */
  | { kind: 'read' }
  | { kind: 'result'; content: Uint8Array }
  /** BAD_USER_INPUT: the letterhead cannot be used. */
  | { kind: 'refused'; message: string }
  /** An unexpected error. */
  | { kind: 'broken'; message: string };
