import { cpSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { builtMain } from '../support/built-service.ts';
import { newFolder } from '../support/service-process.ts';

/** Returns the blocks of code in a language below a heading of a document, up to the next heading. */
export const codeBelow = (text: string, heading: string, language = 'bash'): string[] => {
  const section = text.split(/^#+ (?=[A-Z])/m).find((part) => part.startsWith(heading)) ?? '';
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)\n\`\`\`$`, 'gm'))].map(([, code]) => code!);
};

/** Creates a checkout with the built service and without data. */
export function newCheckout(): { path: string; remove(): void } {
  const checkout = newFolder();
  for (const name of ['node_modules', 'schema']) symlinkSync(join(process.cwd(), name), join(checkout.path, name));
  symlinkSync(dirname(dirname(dirname(builtMain()))), join(checkout.path, 'dist'));
  cpSync('package.json', join(checkout.path, 'package.json'));
  return checkout;
}
