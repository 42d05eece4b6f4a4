/**
 * The actions that the code of an app may take with the rights of another user who calls it, after that user has
 * agreed. See docs/contract/handlers.md#grants-to-apps.
 */
export const APP_SCOPES = {
  read: 'read all that you can read here, except what only your global permissions open',
  write: 'change and delete what you can change here, even with data that it has read',
  notify: 'send notifications, even with data that it has read',
  email: 'send mails, even with data that it has read',
  keep: 'keep what it reads with your rights, in its own tables, logs and events',
  send: 'send what it reads with your rights to other hosts',
  admin: 'use your global permissions, and your rights as a superuser',
} as const;
export type AppScope = keyof typeof APP_SCOPES;
export const APP_SCOPE_NAMES = Object.keys(APP_SCOPES) as AppScope[];

/** Scopes and hosts that an app declares. */
export interface DeclaredAccess {
  scopes: AppScope[];
  /** The scopes without which its handlers do not run. */
  required: AppScope[];
  /** Hosts that receive what it has read, e.g. `api.example.com`. */
  hosts: string[];
}

/** Scopes and hosts that a user has granted. */
export type GrantedAccess = Pick<DeclaredAccess, 'scopes' | 'hosts'>;

/** The limit of an app that acts with the rights of a user who does not own it. One for each run of a handler. */
export interface AppLimit {
  readonly tenantId: string;
  readonly appId: string;
  /** Id of the user's grant; null without one. */
  readonly grantId: string | null;
  /** URL of the page on which the user grants access. */
  readonly url: string;
  readonly declared: DeclaredAccess;
  readonly granted: GrantedAccess;
  readonly received: Received;
}

/** A request of a run to another host. */
interface Sending {
  endUnlessGranted(): Promise<void>;
}

/** Whether a run, or one that it causes, has called the API with the rights of a user. It is never cleared. */
export class Received {
  #isSet = false;
  #ended: Promise<unknown> | undefined;
  readonly #ends: (() => Promise<void>)[] = [];
  /** The requests of the run to other hosts, until it has ended. */
  readonly #sending = new Set<Sending>();

  get isSet(): boolean {
    return this.#isSet;
  }

  /** Adds work that ends before the run receives anything that it may not keep. */
  before(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  /** Adds a request of the run to another host. Returns the function that removes it. */
  send(sending: Sending): () => void {
    this.#sending.add(sending);
    return () => void this.#sending.delete(sending);
  }

  /**
   * Records that the run calls the API now. Resolves when requests to hosts that may not get the data have ended and,
   * where the run may not keep the data, all of `before`.
   */
  async set({ mayKeep }: { mayKeep: boolean }): Promise<void> {
    this.#isSet = true;
    await Promise.all([...this.#sending].map((sending) => sending.endUnlessGranted()));
    if (!mayKeep) this.#ended ??= Promise.all(this.#ends.map((end) => end()));
    await this.#ended;
  }
}

/** Returns the scopes among the wanted ones that a user has not granted. */
export const missingScopes = ({ granted }: Pick<AppLimit, 'granted'>, wanted: readonly AppScope[]): AppScope[] =>
  wanted.filter((scope) => !granted.scopes.includes(scope));

/** Returns the part of a release's declaration that a grant permits. */
export const effectiveAccess = (declared: DeclaredAccess, granted: GrantedAccess): GrantedAccess => ({
  scopes: declared.scopes.filter((scope) => granted.scopes.includes(scope)),
  hosts: declared.hosts.filter((host) => granted.hosts.includes(host)),
});
