import {
  degreesToRadians,
  EncryptedPDFError,
  PDFDocument,
  PDFName,
  PDFRawStream,
  type PDFPage,
  type PDFRef,
  type TransformationMatrix,
} from '@cantoo/pdf-lib';
import { ApiError, badInput } from '../../core/errors.ts';

/** Name of the letterhead among the resources of a page. */
const NAME = 'DwsLetterhead';

/** The first page of a letterhead, as a part of the printed document. */
interface Embedded {
  ref: PDFRef;
  /** Size as it is shown, in points. */
  width: number;
  height: number;
}

/** Adds the first page of the letterhead to the printed document. Throws BAD_USER_INPUT for a letterhead that cannot be used. */
export async function embedLetterhead(printed: PDFDocument, letterhead: Uint8Array): Promise<Embedded> {
  try {
    const source = await PDFDocument.load(letterhead, { updateMetadata: false });
    if (source.getPageCount() === 0) throw badInput('The letterhead has no pages');
    const page = source.getPage(0);
    const { matrix, width, height, box } = shownArea(page);
    const embedded = await printed.embedPage(page, box, matrix);
    await embedded.embed();
    dropExternalData(printed);
    return { ref: embedded.ref, width, height };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof EncryptedPDFError) throw badInput('The letterhead is encrypted', { cause: error });
    throw badInput('The letterhead is damaged', { cause: error });
  }
}

/** Removes the names of outside files from all streams, which readers could open in place of the content. */
function dropExternalData({ context }: PDFDocument): void {
  for (const [, object] of context.enumerateIndirectObjects())
    if (object instanceof PDFRawStream)
      for (const key of ['F', 'FFilter', 'FDecodeParms']) object.dict.delete(PDFName.of(key));
}

/** Returns the visible area of a page, and the matrix that moves it upright to the origin. */
function shownArea(page: PDFPage) {
  const { x, y, width, height } = page.getCropBox();
  if (!(width > 0 && height > 0 && width < 1e6 && height < 1e6)) throw badInput('The letterhead has no area');
  const box = { left: x, bottom: y, right: x + width, top: y + height };
  const angle = (((page.getRotation().angle % 360) + 360) % 360) as number;
  const isTurned = angle % 180 !== 0;
  const [cos, sin] = [Math.round(Math.cos(degreesToRadians(-angle))), Math.round(Math.sin(degreesToRadians(-angle)))];
  // Turned around the origin, the area lies between these coordinates.
  const xs = [cos * box.left - sin * box.bottom, cos * box.right - sin * box.top];
  const ys = [sin * box.left + cos * box.bottom, sin * box.right + cos * box.top];
  const matrix: TransformationMatrix = [cos, sin, -sin, cos, -Math.min(...xs), -Math.min(...ys)];
  return { box, matrix, width: isTurned ? height : width, height: isTurned ? width : height };
}

/** Lays a letterhead under each page: as wide as the page, from its top. Readers for the blind skip it. */
export function layUnderPages(printed: PDFDocument, letterhead: Embedded): void {
  const streams = new Map<string, PDFRef>();
  for (const page of printed.getPages()) {
    const { x, y, width, height } = page.getMediaBox();
    const scale = width / letterhead.width;
    const operators = `${scale} 0 0 ${scale} ${x} ${y + height - letterhead.height * scale} cm`;
    const stream =
      streams.get(operators) ??
      printed.context.register(printed.context.flateStream(`/Artifact BMC q ${operators} /${NAME} Do Q EMC\n`));
    streams.set(operators, stream);
    page.node.normalize();
    page.node.setXObject(PDFName.of(NAME), letterhead.ref);
    const contents = page.node.normalizedEntries().Contents;
    if (contents) contents.insert(0, stream);
    else page.node.set(PDFName.of('Contents'), printed.context.obj([stream]));
  }
}
