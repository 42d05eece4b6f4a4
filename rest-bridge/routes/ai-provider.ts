import { kind } from '../kind.ts';
import { resource } from '../present.ts';

const FIELDS = `id name baseUrl models { id: name kind tier sizes price inputPrice outputPrice } enabled ownerId createdAt
  updatedAt permissions { read edit delete }`;

/** An AI provider of the tenant, or the caller's own. */
const aiProvider = resource<{ id: string }>(FIELDS, ({ id }) => ({ self: `/ai-providers/${id}` }), {
  identity: ['ownerId'],
});

export default kind('ai-providers', 'ai-provider', aiProvider, { aspects: [] });
