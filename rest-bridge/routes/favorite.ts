import { collection, resource } from '../present.ts';
import { resourcePath } from '../resource-path.ts';
import { get } from '../route.ts';

interface FavoriteBody {
  kind: string;
  id: string;
}

const favorite = resource<FavoriteBody>('kind id name createdAt', ({ kind, id }) => ({
  self: `${resourcePath({ kind, id })}/favorite`,
  'svc:resource': resourcePath({ kind, id }),
}));

export default [get('/me/favorites', 'favorites', collection('favorite', favorite))];
