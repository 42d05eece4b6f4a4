import type { SetAssistantIconInput } from '../../../entities/assistant-icon-input.ts';
import type { Assistant } from '../../../entities/assistant.ts';
import { ASSISTANT } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { creationTimeOf } from '../../core/id.ts';
import { PICTURE_TYPES } from '../../core/pictures.ts';
import type { Transaction } from '../../core/platform.ts';
import { loadResource } from '../resource/load-resource.ts';
import { receivePicture, storePicture } from '../resource/picture-upload.ts';
import { checkQuota } from '../resource/quota.ts';
import { deleteStoredBytes, insertStoredFile, type LabelledFile } from '../resource/stored-file.ts';
import { FAVICON_DRAWING, FAVICON_TYPE } from './default-icon.ts';

/** The pictures that are drawn from an uploaded icon. */
const ICON_DRAWINGS = { icon: { as: 'whole', maxSize: 512 }, ...FAVICON_DRAWING } as const;

/**
 * Returns the path of an assistant's icon. It differs for each icon, including the default icons of different names.
 */
export const iconUrlOf = (assistant: {
  id: string;
  uploadedIconId?: string | null;
  updatedAt: string | Date;
}): string =>
  `/api/assistants/${assistant.id}/icon?t=${
    assistant.uploadedIconId ? creationTimeOf(assistant.uploadedIconId) : new Date(assistant.updatedAt).getTime()
  }`;

/** Returns the ids of the files of an uploaded icon. */
export const iconFilesOf = ({ uploadedIconId, faviconId }: Assistant): string[] =>
  [uploadedIconId, faviconId].filter((id) => id != null);

/**
 * Sets the icon of an assistant. Returns the id of the assistant. Throws BAD_USER_INPUT for a file that is not a
 * harmless picture, and PAYLOAD_TOO_LARGE for a file past 5 MB or the quota. The former icon then stays. See
 * docs/contract/agents.md#icons.
 */
export async function setIcon(ctx: Context, key: string, { file }: SetAssistantIconInput): Promise<string> {
  // The access is checked before the file is received, and again after.
  const id = await ctx.transaction(async (tx) => (await loadForIcon(ctx, tx, key)).id);
  const { source } = await receivePicture(ctx, file, 'icon');
  return storePicture(ctx, source, ICON_DRAWINGS, async ({ format, drawn }, save) => {
    const icon = { ...(await save(drawn.icon)), contentType: PICTURE_TYPES[format === 'svg' ? 'svg' : 'png'] };
    const favicon = { ...(await save(drawn.favicon)), contentType: FAVICON_TYPE };
    const replaced = await ctx.transaction((tx) =>
      replaceIcon(ctx, tx, id, {
        icon: { ...icon, filename: format === 'svg' ? 'icon.svg' : 'icon.png' },
        favicon: { ...favicon, filename: 'favicon.ico' },
      }),
    );
    return { result: id, unused: [...replaced, source.id] };
  });
}

const loadForIcon = (ctx: Context, tx: Transaction, key: string): Promise<Assistant> =>
  loadResource(ctx, tx, ASSISTANT, key, 'assistant:write', { ifMatch: ctx.ifMatch });

/** Replaces the icon of an assistant. Returns the ids of the former files, whose rows the database deletes. */
async function replaceIcon(
  ctx: Context,
  tx: Transaction,
  id: string,
  { icon, favicon }: { icon: LabelledFile; favicon: LabelledFile },
): Promise<string[]> {
  const assistant = await loadForIcon(ctx, tx, id);
  const former = iconFilesOf(assistant);
  insertStoredFile(tx, assistant.tenantId, icon);
  insertStoredFile(tx, assistant.tenantId, favicon);
  Object.assign(assistant, { uploadedIconId: icon.id, faviconId: favicon.id });
  tx.flush();
  // The new files are already counted, and the replaced ones no longer.
  await checkQuota(tx, assistant.tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, 0);
  return former;
}

/** Removes the uploaded icon of an assistant, if there is one. Returns the id of the assistant. */
export async function removeIcon(ctx: Context, key: string): Promise<string> {
  const { id, files } = await ctx.transaction(async (tx) => {
    const assistant = await loadForIcon(ctx, tx, key);
    const former = iconFilesOf(assistant);
    Object.assign(assistant, { uploadedIconId: null, faviconId: null });
    return { id: assistant.id, files: former };
  });
  await deleteStoredBytes(ctx, files);
  return id;
}
