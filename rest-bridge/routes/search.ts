import { collection, resource } from '../present.ts';
import { get } from '../route.ts';

interface SearchHitBody {
  kind: string;
  id: string;
  slug: string | null;
}

const hit = resource<SearchHitBody>(
  'kind id: resourceId name slug description ownerId score updatedAt',
  ({ kind, id, slug }, _, pathOfKind) => ({ self: pathOfKind({ kind, id, slug }) }),
);

export default [get('/search', 'search', collection('hit', hit))];
