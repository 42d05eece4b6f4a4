import type { Client } from '../support/client.ts';

/** A recorded call of a webhook, without what differs from run to run. */
export interface RecordedCall {
  method: string;
  path: string;
  route: string | null;
  status: number;
  error: string | null;
  replayable: boolean;
}

/** Returns the recorded calls of an app, the oldest first. */
export async function recordedCalls(author: Client, appId: string): Promise<RecordedCall[]> {
  const { body } = await author.get(`/apps/${appId}/webhooks/calls`);
  return (body._embedded['svc:webhook-call'] as RecordedCall[])
    .map(({ method, path, route, status, error, replayable }) => ({ method, path, route, status, error, replayable }))
    .toReversed();
}
