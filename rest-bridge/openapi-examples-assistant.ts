const ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';

/** Examples of the request bodies of assistants, by operation id. */
export const ASSISTANT_BODIES: Record<string, unknown> = {
  createAssistant: {
    name: 'Shop assistant',
    icon: 'shopping-cart',
    instructions: 'Answer questions about the orders of the last quarter.',
    toolkitIds: [ID],
    datasetIds: [ID],
    events: ['order.received'],
  },
  updateAssistant: { icon: '🚀', instructions: 'Be brief.' },
  setAssistantOwner: { ownerId: `team:${ID}` },
  shareAssistant: { accessLevel: 1 },
  setAssistantIcon: { file: 'the bytes of a picture' },
};
