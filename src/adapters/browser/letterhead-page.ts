import { badInput } from '../../core/errors.ts';
import { LETTERHEAD_TYPES, type PdfDocument } from '../../core/pdf-printer.ts';
import type { PageJob } from './print-page.ts';

type Letterhead = NonNullable<PdfDocument['letterhead']>;

/** Longer than any page whose letterhead is as wide as the page. */
const HEIGHT_IN = 80;
const WIDTH_IN = 8;

const STYLE = '@page{margin:0}html,body{margin:0;overflow:hidden}img{display:block;width:100%}';

/**
 * Returns the page that shows the picture of a letterhead, so that the browser reads pictures and an SVG stays sharp; null
 * for a PDF. Throws BAD_USER_INPUT for other types.
 */
export function letterheadPage({ contentType, content }: Letterhead): PageJob | null {
  const type = contentType.split(';')[0]!.trim().toLowerCase();
  if (!(LETTERHEAD_TYPES as readonly string[]).includes(type))
    throw badInput(`The letterhead is not one of ${LETTERHEAD_TYPES.join(', ')}`);
  if (type === 'application/pdf') return null;
  const data = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64');
  return {
    html: `<style>${STYLE}</style><img alt="" src="data:${type};base64,${data}">`,
    parameters: { paperWidth: WIDTH_IN, paperHeight: HEIGHT_IN },
    brokenPicture: () => badInput('The picture of the letterhead is damaged'),
  };
}
