import { ApiError } from './errors.ts';

/** An app as the pages of the service name it to its callers. */
export interface NamedApp {
  id: string;
  name: string;
  /** Name of the user or team that owns it; null if it cannot act. */
  ownerName: string | null;
}

/**
 * Refuses a request that a link on another site may have caused. Browsers get a page of the service instead, which names
 * the app and its owner, and lets the caller continue.
 */
export class OriginQuestion extends ApiError {
  readonly app: NamedApp;

  constructor(app: NamedApp) {
    super(401, 'UNAUTHENTICATED', 'A request with a session cookie must come from the same origin');
    this.app = app;
  }
}
