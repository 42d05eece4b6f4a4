import { badInput } from '../../core/errors.ts';
import { measurePage, type PdfDocument } from '../../core/pdf-printer.ts';

/** Returns the parameters of Chromium for printing a document. Throws BAD_USER_INPUT for impossible page settings. */
export function printParameters({ page, header, footer }: PdfDocument): Record<string, unknown> {
  const { width, height, margin } = measurePage(page, (key, text) => {
    throw badInput(`page.${key} ${text}`);
  });
  const { top, right, bottom, left } = margin;
  const frame = (html: string | null | undefined) =>
    html
      ? `<div style="box-sizing:border-box;width:100%;padding:0 ${right}in 0 ${left}in;font-size:8pt">${html}</div>`
      : '<i></i>';
  return {
    paperWidth: width,
    paperHeight: height,
    landscape: page.landscape,
    marginTop: top,
    marginRight: right,
    marginBottom: bottom,
    marginLeft: left,
    // Chromium shows title, date and address where a template is empty.
    ...((header || footer) && {
      displayHeaderFooter: true,
      headerTemplate: frame(header),
      footerTemplate: frame(footer),
    }),
  };
}
