/**
 * Channels through which a call is received: GraphQL over HTTP, REST, GraphQL over WebSocket, an operator's command, REST
 * called by a handler of an app, work in the background.
 */
export const AUDIT_CHANNELS = ['graphql', 'rest', 'websocket', 'cli', 'app', 'job'] as const;
export type AuditChannel = (typeof AUDIT_CHANNELS)[number];

export const AUDIT_OUTCOMES = ['succeeded', 'denied', 'started', 'aborted'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** The caller as the audit log records them. */
export interface AuditActor {
  /** The tenant whose log contains the event. */
  tenant: { id: string } | { slug: string };
  userId: string | null;
  username: string;
  tokenId?: string | null;
  sessionId?: string | null;
}

/** A mutation while it runs, with the data of its audit event. */
export interface AuditedMutation {
  /** The GraphQL field. */
  action: string;
  /** Kind of the resource concerned. */
  kind: string | null;
  /** Key by which the caller named the resource. */
  key: string | null;
  /** Id of the resource, once it is known. */
  resourceId: string | null;
  /** Names of the arguments of a download or a read of rows, without their values. Absent for mutations. */
  parameters?: readonly string[];
  /** Number of rows that a read has returned. Absent for mutations and downloads. */
  rows?: number;
  /** Size of a stored file that a transaction sends, e.g. in a mail. */
  bytes?: number;
  /** The actor if it is not the viewer of the request: logins and mailed links. */
  actor?: AuditActor;
  /** Whether a failure with any status is recorded as denied. */
  isDenied?: boolean;
  /** Whether a transaction has written its event. */
  recorded: boolean;
}

/** The part of a request that the audit log records. */
export interface AuditedRequest {
  id: string;
  address: string | null;
  channel: AuditChannel;
  /** The running mutation. */
  mutation?: AuditedMutation | undefined;
}

/**
 * Records the id of the resource that the caller named by `kind` and `key`, or created, for the key null. A mutation that
 * names no resource gets the first resource recorded.
 */
export function recordAuditTarget(
  { mutation }: Pick<AuditedRequest, 'mutation'>,
  kind: string,
  key: string | null,
  id: string,
): void {
  if (!mutation) return;
  const unnamed = mutation.kind === null && mutation.key === null;
  if (unnamed) mutation.kind = kind;
  if (unnamed ? mutation.resourceId === null : mutation.kind === kind && mutation.key === key) mutation.resourceId = id;
}
