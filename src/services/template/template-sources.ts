import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { normalizeText } from '../../core/normalize-text.ts';
import type { TemplateSource } from '../../core/template-engine.ts';
import type { PlannedFile } from './render-plan.ts';

/** The files of a template that an engine reads. */
export interface TemplateSources {
  templates: ReadonlyMap<string, TemplateSource>;
  dataFiles: ReadonlyMap<string, TemplateSource>;
  /** Returns an ASSET file, null for an unknown name. */
  asset(filename: string, signal: AbortSignal): Promise<TemplateSource | null>;
}

/** Loads the TEMPLATE and DATA files of a template. ASSET files are read when they are used. */
export async function loadSources(
  ctx: Pick<Context, 'platform'>,
  files: readonly PlannedFile[],
  signal: AbortSignal,
): Promise<TemplateSources> {
  const read = files.filter(({ role }) => role !== 'ASSET');
  const templates = new Map<string, TemplateSource>();
  const dataFiles = new Map<string, TemplateSource>();
  for (const file of read) {
    signal.throwIfAborted();
    (file.role === 'TEMPLATE' ? templates : dataFiles).set(file.filename, await readSource(ctx, file));
  }
  const assets = new Map(files.filter(({ role }) => role === 'ASSET').map((file) => [file.filename, file]));
  return {
    templates,
    dataFiles,
    async asset(filename) {
      const file = assets.get(normalizeText(filename, 'NFC'));
      return file ? readSource(ctx, file) : null;
    },
  };
}

/** Reads the contents of a file. Throws CONFLICT if it was changed since its row was read. */
export async function readSource(
  { platform }: Pick<Context, 'platform'>,
  { filename, contentType, fileId }: PlannedFile,
): Promise<TemplateSource> {
  const content = fileId === null ? new Uint8Array() : await platform.files.read(fileId);
  if (!content) throw conflict(`The file "${filename}" was changed while it was rendered`);
  return { contentType, content };
}
