import { fontsBundle } from './bundled-fonts.ts';
import { chromiumBundle } from './unpack-chromium.ts';
import { unpack } from './unpacked-folder.ts';

/* Unpacks the browser and the fonts next to the packages, for an image of a container. */

if (process.arch === 'x64') await unpack(chromiumBundle());
await unpack(fontsBundle());
