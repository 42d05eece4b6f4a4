import { collection, resource } from '../present.ts';
import { resourcePath } from '../resource-path.ts';
import { get } from '../route.ts';

interface SearchHitBody {
  kind: string;
  id: string;
  slug: string | null;
}

const hit = resource<SearchHitBody>(
  'kind id: resourceId name slug description ownerId score updatedAt',
  ({ kind, id, slug }) => ({
    self: resourcePath({ kind, id, slug }),
  }),
);

export default [get('/search', 'search', collection('hit', hit))];
