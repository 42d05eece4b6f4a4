/** How a change was asked for: through GraphQL over HTTP, REST, GraphQL over WebSocket, or by an operator's command. */
export const AUDIT_CHANNELS = ['graphql', 'rest', 'websocket', 'cli'] as const;
export type AuditChannel = (typeof AUDIT_CHANNELS)[number];

export const AUDIT_OUTCOMES = ['succeeded', 'denied'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** Who does something, for the audit log. */
export interface Actor {
  /** The tenant whose log it belongs to. */
  tenant: { id: string } | { slug: string };
  userId: string | null;
  username: string;
  tokenId?: string | null;
  sessionId?: string | null;
}

/** A mutation on its way to its event in the audit log. A request carries the one that it is at. */
export interface Mutation {
  /** The GraphQL field. */
  action: string;
  /** The kind of resource that it is about, and how the caller named the resource. */
  kind: string | null;
  key: string | null;
  /** The id of that resource, once it is known. */
  resourceId: string | null;
  /** Who does it, where that is not the viewer of the request: logins and mailed links. */
  actor?: Actor;
  /** Its failure is a refusal that the log shall show, whatever its status. */
  refused?: boolean;
  recorded: boolean;
}

/** What a mutation tells of the request it came with. */
export interface AuditedRequest {
  id: string;
  address: string | null;
  channel: AuditChannel;
  mutation?: Mutation | undefined;
}

/** Says which row the caller's word for a resource means; the first resource of a mutation that named none is taken for its own. */
export function recordAuditTarget(
  { mutation }: Pick<AuditedRequest, 'mutation'>,
  kind: string,
  key: string,
  id: string,
): void {
  if (!mutation) return;
  const unnamed = mutation.kind === null && mutation.key === null;
  if (unnamed) mutation.kind = kind;
  if (unnamed ? mutation.resourceId === null : mutation.kind === kind && mutation.key === key) mutation.resourceId = id;
}
