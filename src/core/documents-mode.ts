/** Treatments of documents of GraphQL that are not stored for a client. See docs/contract/clients.md#modes. */
export const DOCUMENTS_MODES = ['OFF', 'LOG', 'WARN', 'ENFORCE'] as const;
export type DocumentsMode = (typeof DOCUMENTS_MODES)[number];
