import { pino } from 'pino';
import { browserAccount } from '../../src/adapters/browser/browser-account.ts';
import { BrowserFinder, type BrowserProgram } from '../../src/adapters/browser/find-browser.ts';

/** Returns the browser of this machine. */
export const program = (): Promise<BrowserProgram> =>
  new BrowserFinder({ path: undefined, account: browserAccount(), log: pino({ level: 'silent' }) }).find();
