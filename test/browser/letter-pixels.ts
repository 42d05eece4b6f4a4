import { browserAccount } from '../../src/adapters/browser/browser-account.ts';
import { BrowserProcess } from '../../src/adapters/browser/browser-process.ts';
import { program } from './package-browser.ts';

/** Draws letters in a page. Returns the pixels of each as a text. */
const DRAW = `(letters) => letters.map((letter) => {
  const context = new OffscreenCanvas(80, 60).getContext('2d');
  context.font = '32px sans-serif';
  context.fillText(letter, 10, 40);
  return context.getImageData(0, 0, 80, 60).data.join();
})`;

/** Returns how the browser of PDFs draws letters, each as the values of its pixels. */
export async function pixelsOf(letters: readonly string[]): Promise<string[]> {
  const browser = new BrowserProcess({ program: await program(), account: browserAccount(), hasSandbox: false });
  const { devTools } = browser;
  browser.setRef(true);
  try {
    const { targetId } = await devTools.send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' });
    const target = { targetId, flatten: true };
    const { sessionId } = await devTools.send<{ sessionId: string }>('Target.attachToTarget', target);
    const expression = `(${DRAW})(${JSON.stringify(letters)})`;
    const call = { expression, returnByValue: true };
    const { result } = await devTools.send<{ result: { value: string[] } }>('Runtime.evaluate', call, sessionId);
    return result.value;
  } finally {
    browser.kill(new Error('The letters are drawn'));
    await browser.ended;
  }
}
