import type { TemplateProcessor } from '../../../entities/template-processor.ts';
import type { Context, RequestInfo } from '../../core/context.ts';
import { ApiError, badInput } from '../../core/errors.ts';
import { createViewerContext } from '../resource/viewer-context.ts';
import { processorOf } from './processors/processor-registry.ts';
import type { Binding, Processor, ReadLimits } from './processors/processor.ts';
import { DataBudget } from './template-data-budget.ts';
import { bindConfig, refusedIssue } from './template-processor-config.ts';

/** Number of rows that a preview reads with each processor. */
const PREVIEW_ROWS = 20;

/** The definition of a processor, which decides the data that it reads. */
export type ProcessorDefinition = Pick<TemplateProcessor, 'name' | 'type' | 'config'>;

/** The data to read for a rendering. */
export interface TemplateDataRequest {
  /** The processors of the template, in their order. */
  processors: readonly ProcessorDefinition[];
  /** The values of all inputs, from `checkParameters`. */
  values: Readonly<Record<string, unknown>>;
  /** Whether to read 20 rows with each processor. */
  preview?: boolean;
  /** Aborts the reading. */
  signal: AbortSignal;
  /** Called before each processor reads. */
  onProcessor?(name: string, index: number): void;
}

/**
 * Reads the data of a rendering: the result of each processor by its name, as JSON values. Reads one after the other,
 * with only the access of the viewer. Throws the errors of the readings with the path `processors.<name>`, or
 * `params.<name>` for the value of an input that is refused. Throws 413 past 50 MB in total, and the reason of an
 * aborted signal.
 */
export async function loadTemplateData(
  ctx: Context,
  { processors, values, preview = false, signal, onProcessor }: TemplateDataRequest,
): Promise<Record<string, unknown>> {
  const reading = contextUntil(ctx, signal);
  const budget = new DataBudget();
  const limits: ReadLimits = {
    previewRows: preview ? PREVIEW_ROWS : null,
    take: (value) => budget.take(value),
  };
  const data: [string, unknown][] = [];
  for (const [index, processor] of processors.entries()) {
    signal.throwIfAborted();
    onProcessor?.(processor.name, index);
    data.push([processor.name, await readProcessor(reading, processor, values, limits)]);
  }
  return Object.fromEntries(data);
}

/** Returns a context of the same viewer whose reads also end with the signal, and do not appear in audit records. */
function contextUntil({ platform, request, viewer }: Context, signal: AbortSignal): Context {
  const { id, address, userAgent, channel } = request;
  const info: RequestInfo = {
    id,
    address,
    userAgent,
    channel,
    signal: AbortSignal.any([request.signal, signal]),
    setOperation: () => undefined,
    setSession: () => undefined,
  };
  return createViewerContext(platform, info, viewer);
}

async function readProcessor(
  ctx: Context,
  definition: ProcessorDefinition,
  values: TemplateDataRequest['values'],
  limits: ReadLimits,
): Promise<Record<string, unknown>> {
  const { config, bindings } = bindConfig(definition, values);
  const processor = processorOf(definition.type);
  try {
    return await processor.read(ctx, config as never, limits);
  } catch (error) {
    ctx.request.signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    const refused = error.status === 400 && (await findRefused(ctx, processor, config, bindings, error));
    if (refused) throw badInput(error.message, { validation: [refusedIssue(refused.input, error.message)] });
    throw atProcessor(definition.name, error);
  }
}

/** Returns the binding whose value is the reason of an error. */
async function findRefused(
  ctx: Context,
  processor: Processor,
  config: Record<string, unknown>,
  bindings: readonly Binding[],
  { validation = [] }: ApiError,
): Promise<Binding | undefined> {
  const { path = [], code } = validation[0] ?? {};
  // The name of a field or operator never comes from a binding.
  if (code === 'unknown') return undefined;
  const named = bindings.find((binding) => binding.path.every((key, index) => path[index] === key));
  return named ?? processor.findRefused?.(ctx, config as never, bindings);
}

/** Returns an error that names the processor. */
function atProcessor(name: string, error: ApiError): ApiError {
  const { status, code, headers } = error;
  const message = `processors.${name}: ${error.message}`;
  const validation = [{ path: ['processors', name], message, code: error.validation?.[0]?.code ?? 'invalid' }];
  return new ApiError(status, code, message, { validation, ...(headers && { headers }), cause: error });
}
