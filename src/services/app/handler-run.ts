import type { HandlerOutcome, HandlerTask } from '../../core/app-run.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';

/** Stand-in until handlers run: behaves as the module of test/app/echo-app.ts. */
export async function runHandler(_platform: Platform, task: HandlerTask): Promise<HandlerOutcome> {
  const { request, params, user, roles } = task;
  const { query } = request;
  const ended = { logs: [], durationMs: 1, memoryBytes: 1 };
  if (query['fail'])
    return { ...ended, result: { failure: upstreamFailed(`${String(query['fail'])} (${task.route.handlerPath}:4)`) } };
  const echo = {
    method: request.method,
    path: request.path,
    params,
    query,
    headers: request.headers,
    rawBody: Buffer.from(request.body).toString(),
    user,
    roles,
  };
  const respond = request.headers['x-respond'];
  const { status = 200, headers = {}, body = echo } = respond === undefined ? {} : JSON.parse(respond);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
  return {
    ...ended,
    result: { response: { status, headers: { 'content-type': type, ...headers }, body: Buffer.from(text) } },
  };
}
