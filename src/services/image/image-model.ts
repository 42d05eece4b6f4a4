import { Assistant } from '../../../entities/assistant.ts';
import { Image } from '../../../entities/image.ts';
import { User } from '../../../entities/user.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import { readableThrough } from '../resource/access-filter.ts';
import { belongsTo, defineModel, equalsFilter } from '../resource/define-model.ts';

const readableAssistants = readableThrough('assistant', 'assistant_id');

/** Filters the viewer's own images, and images of assistants that the viewer may read. */
const readableImages: AccessFilter = (viewer) => {
  const ofAssistants = readableAssistants(viewer) ?? { sql: 'r.assistant_id is not null', params: [] };
  return { sql: `(r.user_id = ? or ${ofAssistants.sql})`, params: [viewer.userId, ...ofAssistants.params] };
};

/** SQL of a column of the stored file with the contents. */
const storedColumn = (column: string): string =>
  `(select f.${column} from dws.stored_file f where f.tenant_id = p.tenant_id and f.id = p.file_id)`;

export const imageModel = defineModel(Image, {
  accessFilter: readableImages,
  searchedFields: ['model'],
  sortable: ['model', 'createdAt', 'updatedAt'],
  defaultSort: '-createdAt',
  filters: { assistantId: equalsFilter(Image, 'assistantId') },
  relations: { user: belongsTo(User, 'user_id'), assistant: belongsTo(Assistant, 'assistant_id') },
  computed: {
    bytes: { sql: storedColumn('size'), type: 'bigint' },
    contentType: { sql: storedColumn('content_type'), type: 'text' },
    sha256: { sql: storedColumn('sha256'), type: 'text' },
  },
});
