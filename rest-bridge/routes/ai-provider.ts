import { kind } from '../kind.ts';
import { resource } from '../present.ts';

const FIELDS = `id name baseUrl models { id: name kind tier sizes price inputPrice outputPrice } enabled ownerId createdAt
  updatedAt permissions { read edit delete }`;

/** An AI provider of the tenant, or the caller's own. */
const aiProvider = resource<{ id: string }>(FIELDS, ({ id }) => ({ self: `/ai-providers/${id}` }), {
  identity: ['ownerId'],
});

export default kind('ai-providers', 'ai-provider', aiProvider, {
  aspects: [],
  rows: {
    create: {
      example: {
        name: 'Models',
        baseUrl: 'https://api.example.com/v1',
        apiKey: 'sk-5f2b8c',
        models: [
          { id: 'draw-1', kind: 'image', tier: 'everyday', sizes: ['1024x1024', '512x512'], price: 0.04 },
          { id: 'talk-1', kind: 'chat', tier: 'advanced', inputPrice: 2.5, outputPrice: 10 },
        ],
      },
    },
    update: { example: { enabled: false } },
  },
});
