import { TemplateFile } from '../../../entities/template-file.ts';
import { TemplateInput } from '../../../entities/template-input.ts';
import type { TemplateProcessor } from '../../../entities/template-processor.ts';
import type { Template } from '../../../entities/template.ts';
import type { RowChange } from '../../core/platform.ts';
import type { EventDraft } from './activity-draft.ts';

/** A part of a template. */
export type TemplatePart = TemplateFile | TemplateInput | TemplateProcessor;

/** Drafts the event for a change of a file of a resource. */
export const FILE_SENTENCES = {
  create: (file: string, name: string) => `added the file ${file} to ${name}`,
  update: (file: string, name: string) => `changed the file ${file} of ${name}`,
  delete: (file: string, name: string) => `took the file ${file} out of ${name}`,
};

/** Drafts the event for a change of a part of a template. Inputs and processors are replaced as lists. */
export function draftTemplatePartEvent(type: RowChange['type'], part: TemplatePart, template: Template): EventDraft {
  const common = { kind: 'template' as const, resource: template, event: 'updated' as const, keys: [] };
  if (part instanceof TemplateFile) {
    const { id, filename } = part;
    const data = { fields: ['files'], fileId: id, filename };
    return { ...common, data, sentence: (name) => FILE_SENTENCES[type](filename, name) };
  }
  const list = part instanceof TemplateInput ? 'inputs' : 'processors';
  return {
    ...common,
    data: { fields: [list] },
    sentence: (name) => `changed the ${list} of ${name}`,
    replaced: list,
  };
}
