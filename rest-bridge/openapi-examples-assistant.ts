const ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';

/** Examples of the request bodies of assistants and their agents, by operation id. */
export const ASSISTANT_BODIES: Record<string, unknown> = {
  createAssistant: {
    name: 'Shop assistant',
    icon: 'shopping-cart',
    instructions: 'Answer questions about the orders of the last quarter.',
    toolkitIds: [ID],
    datasetIds: [ID],
    events: [{ appId: ID, name: 'order.received' }],
  },
  createAgent: {
    name: 'Order clerk',
    assistantId: ID,
    events: [{ appId: ID, name: 'order.received' }],
    instructions: 'Check whether the order is unusual.',
  },
  updateAgent: { instructions: 'Be brief.', enabled: false },
  runAgent: { payload: { order: 7 } },
  updateAssistant: { icon: '🚀', instructions: 'Be brief.' },
  setAssistantOwner: { ownerId: `team:${ID}` },
  shareAssistant: { accessLevel: 1 },
  setAssistantIcon: { file: 'the bytes of a picture' },
};
