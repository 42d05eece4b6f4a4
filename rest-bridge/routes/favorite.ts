import { collection, resource } from '../present.ts';
import { get } from '../route.ts';

interface Favorite { kind: string; id: string }

const pathOf = (kind: string): string => (kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`);
const favorite = resource<Favorite>('kind id name createdAt', ({ kind, id }) => ({ self: `/${pathOf(kind)}/${id}/favorite`, 'svc:resource': `/${pathOf(kind)}/${id}` }));

export default [get('/me/favorites', 'favorites', collection('favorite', favorite))];
