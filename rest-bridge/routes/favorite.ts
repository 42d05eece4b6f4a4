import { collection, resource } from '../present.ts';
import { resourcePath } from '../resource-path.ts';
import { get } from '../route.ts';

interface Favorite {
  kind: string;
  id: string;
}

const favorite = resource<Favorite>('kind id name createdAt', ({ kind, id }) => ({
  self: `${resourcePath({ kind, id })}/favorite`,
  'svc:resource': resourcePath({ kind, id }),
}));

export default [get('/me/favorites', 'favorites', collection('favorite', favorite))];
