/* Decides which links a caller gets, by the conditions of the routes to which they lead. */
import { isGlobalPermission } from '../src/core/permissions.ts';
import type { Endpoint } from './bridge.ts';
import type { LinkCheck } from './links.ts';
import type { Json } from './route.ts';

const mayWrite: LinkCheck = (_, viewer) => viewer?.scopes.has('write') === true;
const hasSession: LinkCheck = (_, viewer) => viewer?.authMethod === 'session';

/** The checks of a table of rows. Equal checks are one function, so that each is called once for a record. */
export class LinkChecks {
  readonly #checks = new Map<string, LinkCheck>();
  readonly #numbers = new Map<LinkCheck, number>();

  /** Returns the check of a path: one of its routes must be permitted. Undefined when every reader may use one. */
  of(endpoints: readonly Endpoint[]): LinkCheck | undefined {
    const checks = endpoints.flatMap((endpoint) => this.#ofRoute(endpoint) ?? []);
    return checks.length < endpoints.length ? undefined : this.#join('or', checks);
  }

  #ofRoute({ row, plan, permission }: Endpoint): LinkCheck | undefined {
    if (permission === 'public') return undefined;
    const { linked } = row.options;
    const checks = permission.split(', ').flatMap((name) => this.#ofPermission(name) ?? []);
    if (plan ? plan.operation === 'mutation' : row.method !== 'GET') checks.push(mayWrite);
    if (typeof linked === 'function') checks.push(linked);
    return checks.length === 0 ? undefined : this.#join('and', checks);
  }

  /** Returns the check of a permission. That on a resource is looked up in the record's `permissions`. */
  #ofPermission(permission: string): LinkCheck | undefined {
    if (permission === 'authenticated') return undefined;
    if (permission === 'session') return hasSession;
    if (isGlobalPermission(permission))
      return this.#once(
        permission,
        () => (_, viewer) => viewer?.superuser === true || viewer?.permissions.has(permission) === true,
      );
    const ability = permission.slice(permission.indexOf(':') + 1);
    if (ability === 'read') return undefined;
    return this.#once(
      ability,
      () =>
        ({ permissions }) =>
          (permissions as Json | undefined)?.[ability] === true,
    );
  }

  /** Returns the check that is true if one of these is, or if all are. */
  #join(word: 'and' | 'or', checks: readonly LinkCheck[]): LinkCheck {
    const distinct = [...new Set(checks)];
    if (distinct.length === 1) return distinct[0]!;
    return this.#once(distinct.map((check) => this.#numberOf(check)).join(` ${word} `), () =>
      word === 'or'
        ? (record, viewer) => distinct.some((check) => check(record, viewer))
        : (record, viewer) => distinct.every((check) => check(record, viewer)),
    );
  }

  #once(key: string, create: () => LinkCheck): LinkCheck {
    const check = this.#checks.get(key) ?? create();
    this.#checks.set(key, check);
    return check;
  }

  #numberOf(check: LinkCheck): number {
    const number = this.#numbers.get(check) ?? this.#numbers.size;
    this.#numbers.set(check, number);
    return number;
  }
}
