import { toApiError } from '../../core/api-error.ts';
import type { AppResponse, HandlerOutcome, HandlerTask } from '../../core/app-run.ts';
import type { Context } from '../../core/context.ts';
import { ApiError, conflict } from '../../core/errors.ts';
import { handlersTooDeep, MAX_HANDLER_DEPTH } from '../../core/handler-depth.ts';
import type { Platform } from '../../core/platform.ts';
import { SandboxFailure, type SandboxLimits } from '../../core/sandbox.ts';
import { createViewerContext } from '../resource/viewer-context.ts';
import { HANDLER_ENTRY, handlerModules, loadReleaseCode } from './app-code-cache.ts';
import { MAX_LOG_BYTES } from './app-log-lines.ts';
import { openEnv } from './find-running-app.ts';
import { followSignal, runUntilDeleted } from './handler-ends.ts';
import { disconnected, failureError } from './handler-failure.ts';
import { createHostCalls, MAX_OUTPUT_BYTES } from './handler-host.ts';
import { codeUserOf, placeOf } from './handler-places.ts';
import { readResponse } from './handler-response.ts';

const MEBIBYTE = 1024 ** 2;
const DEFAULT_TIMEOUT_MS = 30_000;
const LIMITS: Omit<SandboxLimits, 'timeoutMs'> = {
  memoryBytes: 128 * MEBIBYTE,
  outputBytes: MAX_OUTPUT_BYTES,
  logBytes: MAX_LOG_BYTES,
  hostCalls: 1000,
  hostBytes: 64 * MEBIBYTE,
};

/**
 * Runs a handler of an app in the sandbox. Returns its response or its failure at its end, even if its request ends
 * during the run. An app that is deleted during the run gives NOT_FOUND. Throws UNAVAILABLE if too many handlers run or
 * call each other, and the reason of whatever ended it before it started.
 */
export async function runHandler(platform: Platform, task: HandlerTask): Promise<HandlerOutcome> {
  const { app, depth, route, ctx } = task;
  if (depth >= MAX_HANDLER_DEPTH) throw handlersTooDeep();
  const env = Object.fromEntries(openEnv(platform.secrets, app));
  const { timeout } = route.config;
  const limits = { ...LIMITS, timeoutMs: typeof timeout === 'number' ? timeout : DEFAULT_TIMEOUT_MS };
  const caller = followSignal(ctx.request.signal);
  let sent: AppResponse | undefined;
  const send = async (response: AppResponse) => {
    if (sent) throw conflict('The handler has responded already');
    sent = response;
    // The request ends with its response.
    if (task.send) caller.stop();
    await task.send?.(response);
  };
  const run = runUntilDeleted(platform, app.id, caller.signal, async (signal) => {
    const code = await loadReleaseCode(platform, app, codeUserOf(task));
    let startedAt: number | null = null;
    const endWith = (
      result: HandlerOutcome['result'],
      { logs, memoryBytes }: Pick<SandboxFailure, 'logs' | 'memoryBytes'> = { logs: [], memoryBytes: 0 },
    ): HandlerOutcome => ({
      result: sent ? { response: sent, ...('failure' in result && { lateFailure: result.failure }) } : result,
      logs,
      durationMs: startedAt === null ? 0 : performance.now() - startedAt,
      memoryBytes,
    });
    try {
      const ended = await platform.sandbox.run({
        ...placeOf(task),
        isHandler: true,
        modules: handlerModules(code, route.handlerPath, route.method),
        entry: HANDLER_ENTRY,
        input: inputOf(platform, task, env),
        host: createHostCalls(platform, { ...task, ctx: contextWith(ctx, signal), send }),
        secrets: Object.values(env),
        textAs: 'bytes',
        limits,
        signal,
        onStart: () => {
          startedAt = performance.now();
        },
      });
      return endWith(resultOf(ended.output), ended);
    } catch (error) {
      if (error instanceof SandboxFailure) return endWith({ failure: failureError(error, limits) }, error);
      if (!signal.aborted || startedAt === null) throw error;
      return endWith({ failure: toApiError(signal.reason) ?? disconnected() });
    }
  });
  return run.finally(() => caller.stop());
}

/** Returns a context whose request lasts as long as a signal says. */
const contextWith = ({ platform, request, viewer }: Context, signal: AbortSignal): Context => {
  const { id, address, userAgent, channel, appDepth, authority, mutation } = request;
  const facts = { id, address, userAgent, channel, appDepth, authority, mutation };
  return createViewerContext(platform, { ...facts, signal, setOperation: () => {}, setSession: () => {} }, viewer);
};

/** Returns what crosses to the handler: all that its argument contains as values. */
function inputOf(platform: Platform, task: HandlerTask, env: Record<string, string>): object {
  const { app, request, params, user, roles } = task;
  const { method, path, query, headers, body } = request;
  return {
    request: { method: method.toUpperCase(), path, params, query, headers, user, roles },
    body,
    context: {
      app: { id: app.id, name: app.name, slug: app.slug },
      tenant: app.tenant,
      releaseId: app.releaseId,
      baseUrl: platform.publicUrl,
    },
    env,
  };
}

function resultOf(output: unknown): HandlerOutcome['result'] {
  try {
    return { response: readResponse(output) };
  } catch (error) {
    if (error instanceof ApiError) return { failure: error };
    throw error;
  }
}
