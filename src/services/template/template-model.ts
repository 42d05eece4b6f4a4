import { Rendition } from '../../../entities/rendition.ts';
import { TemplateFile } from '../../../entities/template-file.ts';
import { TemplateInput } from '../../../entities/template-input.ts';
import { TemplateProcessor } from '../../../entities/template-processor.ts';
import { Template } from '../../../entities/template.ts';
import { readableTemplates } from '../resource/access-filter.ts';
import { belongsTo, defineModel, hasMany } from '../resource/define-model.ts';
import { ownRows, throughParent } from '../resource/node-access.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';
import { EMPTY_SHA256 } from '../resource/stored-file.ts';
import { TEMPLATE_DRAFT_STALE } from './template-draft-base.ts';

/** SQL of a column of the stored file with the contents. */
const storedColumn = (column: string): string =>
  `(select f.${column} from dws.stored_file f where f.tenant_id = p.tenant_id and f.id = p.file_id)`;

export const templateModel = defineOwnedModel(Template, {
  accessFilter: readableTemplates,
  sortable: ['name', 'slug', 'type', 'createdAt', 'updatedAt'],
  computed: { stale: TEMPLATE_DRAFT_STALE },
  relations: {
    parent: belongsTo(Template, 'parent_id'),
    drafts: hasMany(Template, 'parent_id', 'createdAt'),
    templateFile: belongsTo(TemplateFile, 'template_file_id'),
    letterhead: belongsTo(TemplateFile, 'letterhead_id'),
    files: hasMany(TemplateFile, 'template_id', 'filename'),
    inputs: hasMany(TemplateInput, 'template_id', 'position'),
    processors: hasMany(TemplateProcessor, 'template_id', 'position'),
    renditions: hasMany(Rendition, 'template_id', '-createdAt'),
  },
});

export const templateFileModel = defineModel(TemplateFile, {
  label: 'template file',
  nodeAccess: throughParent(Template, 'template_id'),
  searchedFields: ['filename'],
  defaultSort: 'filename',
  relations: { template: belongsTo(Template, 'template_id') },
  computed: {
    size: { sql: `coalesce(${storedColumn('size')}, 0)`, type: 'bigint' },
    sha256: { sql: `coalesce(${storedColumn('sha256')}, '${EMPTY_SHA256}')`, type: 'text' },
  },
});

export const templateInputModel = defineModel(TemplateInput, {
  nodeAccess: throughParent(Template, 'template_id'),
  defaultSort: 'position',
  relations: { template: belongsTo(Template, 'template_id') },
});

export const templateProcessorModel = defineModel(TemplateProcessor, {
  nodeAccess: throughParent(Template, 'template_id'),
  defaultSort: 'position',
  relations: { template: belongsTo(Template, 'template_id') },
});

export const renditionModel = defineModel(Rendition, {
  nodeAccess: ownRows,
  searchedFields: ['filename'],
  defaultSort: '-createdAt',
  relations: { template: belongsTo(Template, 'template_id') },
});
