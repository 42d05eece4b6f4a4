const ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';

/** Examples of the request bodies of AI providers and images, by operation id. */
export const AI_BODIES: Record<string, unknown> = {
  createAiProvider: {
    name: 'Models',
    baseUrl: 'https://api.example.com/v1',
    apiKey: 'sk-5f2b8c',
    models: [
      { id: 'draw-1', kind: 'image', tier: 'everyday', sizes: ['1024x1024', '512x512'], price: 0.04 },
      { id: 'talk-1', kind: 'chat', tier: 'advanced', inputPrice: 2.5, outputPrice: 10 },
    ],
  },
  updateAiProvider: { enabled: false },
  createImage: { prompt: 'A lighthouse at dusk', size: '1024x1024', progress: `image-${ID}` },
  createAssistantImage: { prompt: 'A friendly robot as the portrait of the assistant' },
  quoteUsage: { action: 'image', size: '1024x1024' },
};
