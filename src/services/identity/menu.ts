import type { MenuItem, MenuTemplate } from '../../../entities/menu.ts';
import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import { plural } from '../../../entities/word-enum.ts';
import { capitalize, uncapitalize } from '../../core/capitalize.ts';

/** An entry of a menu with the root field that its path runs. The permission of that field is the entry's. */
interface MenuEntry extends MenuItem {
  field: string;
}

const entry = (id: string, icon: string, label = capitalize(id), field = id): MenuEntry => ({
  id,
  label,
  path: `/api/${id}`,
  icon,
  field,
});

const AI_PROVIDERS = entry('ai-providers', 'sparkles', 'AI providers', 'aiProviders');

/**
 * The menus of front-ends with all their entries (docs/contract/people.md#menus). A kind with owners is included
 * automatically.
 */
export const MENUS: readonly { id: string; name: string; items: readonly MenuEntry[] }[] = [
  {
    id: 'content',
    name: 'Content',
    items: [
      ...OWNED_KINDS.map(({ kind, entity, icon }) =>
        entry(plural(kind), icon, capitalize(plural(kind)), plural(uncapitalize(entity.name))),
      ),
      entry('agents', 'workflow'),
      entry('images', 'image'),
    ],
  },
  {
    id: 'organization',
    name: 'Organization',
    items: [entry('folders', 'folder'), entry('tags', 'tag'), entry('suites', 'layers'), AI_PROVIDERS],
  },
  { id: 'people', name: 'People', items: [entry('users', 'user'), entry('teams', 'users')] },
  {
    id: 'administration',
    name: 'Administration',
    items: [
      entry('identity-providers', 'key-round', 'Identity providers', 'identityProviders'),
      entry('outbox', 'mail'),
      entry('audit', 'scroll-text', 'Audit log', 'auditEvents'),
      { ...entry('ai-audit', 'brain', 'AI audit', 'aiCalls'), path: '/api/ai/audit' },
      entry('usage', 'coins', 'Usage', 'usageReport'),
      entry('usage-profiles', 'gauge', 'Usage profiles', 'usageProfiles'),
      { ...entry('usage-events', 'list', 'Usage ledger', 'usageEvents'), path: '/api/usage/events' },
    ],
  },
];

/** Returns the menus with the entries whose root field `mayRun` permits, without empty menus. */
export const listMenus = (mayRun: (field: string) => boolean): MenuTemplate[] =>
  MENUS.map((menu) => ({
    ...menu,
    items: menu.items.filter(({ field }) => mayRun(field)),
  })).filter(({ items }) => items.length > 0);
