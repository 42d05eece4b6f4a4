import { Assistant } from '../../../entities/assistant.ts';
import type { Context } from '../../core/context.ts';
import {
  checkReadOnce,
  readPicture,
  readWholePicture,
  storedPicture,
  type PictureContents,
  type PictureFile,
  type StoredPictureRow,
} from '../resource/picture-file.ts';
import { defaultFavicon, defaultIcon, type IconOwner } from './default-icon.ts';

/** Returns the icon of an assistant that the caller may read: the uploaded one, or the default one. */
export const readIcon = (ctx: Context, key: string): Promise<PictureContents> => {
  checkReadOnce(ctx, 'assistantIcon');
  return read(ctx, key, 'uploadedIcon', defaultIcon);
};

/** Returns the favicon of an assistant that the caller may read, drawn from its icon. */
export const readFavicon = (ctx: Context, key: string): Promise<PictureContents> => {
  checkReadOnce(ctx, 'assistantFavicon');
  return read(ctx, key, 'uploadedFavicon', (owner) => defaultFavicon(owner, ctx.viewer));
};

/** Reads a stored picture of an assistant, else draws the default one. */
async function read(
  ctx: Context,
  key: string,
  field: 'uploadedIcon' | 'uploadedFavicon',
  drawDefault: (owner: IconOwner) => Promise<PictureFile>,
): Promise<PictureContents> {
  const find = async (): Promise<IconRow> => {
    const row: unknown = await ctx.read.one(Assistant, key, ['id', 'name', 'icon', field]);
    return row as IconRow;
  };
  const contentsOf = async (row: IconRow) =>
    row[field] && (await readWholePicture(ctx, storedPicture(ctx, row[field])));
  let row = await find();
  let contents = await contentsOf(row);
  // The icon may have been replaced, and its file deleted, since its row was read.
  if (contents === undefined) contents = await contentsOf((row = await find()));
  return contents ?? (await readPicture(ctx, await drawDefault(row)))!;
}

interface IconRow extends IconOwner {
  uploadedIcon: StoredPictureRow | null;
  uploadedFavicon: StoredPictureRow | null;
}
