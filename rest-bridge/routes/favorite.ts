import { collection, resource } from '../present.ts';
import { get } from '../route.ts';

interface FavoriteBody {
  kind: string;
  id: string;
}

const favorite = resource<FavoriteBody>('kind id name createdAt', ({ kind, id }, _, pathOfKind) => {
  const path = pathOfKind({ kind, id });
  return { self: path && `${path}/favorite`, 'svc:resource': path };
});

export default [get('/me/favorites', 'favorites', collection('favorite', favorite))];
