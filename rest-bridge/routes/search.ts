import { collection, resource } from '../present.ts';
import { get } from '../route.ts';

interface SearchHitBody {
  kind: string;
  id: string;
  slug: string | null;
  libraryId: string | null;
}

const hit = resource<SearchHitBody>(
  'kind id: resourceId libraryId name slug description ownerId score updatedAt',
  ({ kind, id, libraryId, slug }, _, pathOfKind) => ({
    self: kind === 'library-file' ? `/libraries/${libraryId}/files/${id}` : pathOfKind({ kind, id, slug }),
  }),
);

export default [get('/search', 'search', collection('hit', hit), { id: 'search' })];
