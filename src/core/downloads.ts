import type { AuditedMutation } from './audit.ts';

/** A download, as the audit log records it. */
export type AuditedRead = Pick<AuditedMutation, 'action' | 'kind' | 'key' | 'resourceId'> & {
  parameters: readonly string[];
};

/** How the audit log records the downloads of a route. */
interface Download {
  action: string;
  kind: string;
  /** Parameter in the path of the route that identifies the resource. */
  key: string;
  /** Names of the other arguments. */
  parameters: readonly string[];
}

/**
 * Downloads of stored files, by the GraphQL field of their route. Exports and files of jobs are subscriptions, which are
 * recorded by their names. See docs/contract/resources.md#audit-log.
 */
const DOWNLOADS = {
  'app.file': { action: 'appFile', kind: 'app', key: 'id', parameters: ['path'] },
  'library.file': { action: 'libraryFile', kind: 'library', key: 'libraryId', parameters: ['id'] },
  'template.file': { action: 'templateFile', kind: 'template', key: 'templateId', parameters: ['id'] },
  'template.rendition': { action: 'rendition', kind: 'template', key: 'id', parameters: ['renditionId'] },
  image: { action: 'image', kind: 'image', key: 'id', parameters: [] },
} satisfies Record<string, Download>;
type DownloadField = keyof typeof DOWNLOADS;

/** Returns whether a route with a GraphQL field and a handler of its own delivers a stored file. */
export const isDownload = (field: string | null): field is DownloadField =>
  field !== null && Object.hasOwn(DOWNLOADS, field);

/** Returns a download of a file of a resource. */
export function downloadOf(field: DownloadField, resourceId: string): AuditedRead {
  const { action, kind, parameters } = DOWNLOADS[field];
  return { action, kind, key: null, resourceId, parameters };
}

/** Returns the download of a request, by the parameters in its path. */
export function requestedDownload(field: DownloadField, params: Readonly<Record<string, string>>): AuditedRead {
  const { action, kind, key, parameters } = DOWNLOADS[field];
  return { action, kind, key: params[key] ?? null, resourceId: null, parameters };
}
