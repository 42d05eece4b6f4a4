/** The user that runs the browser, as spawn options: empty unless this process is root. */
export type BrowserAccount = { uid?: number; gid?: number };

/** The user `nobody` of Linux. It needs no name: the browser gets a home of its own. */
const UNPRIVILEGED = 65_534;

/** Returns the user for the browser, which must not run as root. */
export const browserAccount = (): BrowserAccount =>
  process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
