/** A process that prints until it is killed. */
import { documentOf, openPrinter, tableOf } from '../support/pdf-printing.ts';

const printer = openPrinter();
void printer.print(documentOf(tableOf(60_000))).catch(() => {});
process.send!('begun');
setInterval(() => {}, 1000);
