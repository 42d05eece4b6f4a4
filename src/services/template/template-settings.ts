import type { User } from '../../../entities/user.ts';
import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { checkJsonBounds, invalid } from '../../core/input-checks.ts';
import type { PageSettings } from '../../core/pdf-printer.ts';
import type { RenderSettings } from '../../core/template-engine.ts';
import { isTimezone } from '../../core/time-zone.ts';
import { checkFrames } from './frame-mistakes.ts';
import { loadAtVersion } from './template-data-parts.ts';
import { DEFAULT_PAGE, parsePage } from './template-settings-page.ts';

type Settings = Readonly<Record<string, unknown>>;

/** The settings of a template with their defaults. */
export interface TemplateSettings extends RenderSettings {
  page: PageSettings;
  /** Texts around each page of a PDF, in the language of the engine; null without one. */
  header: string | null;
  footer: string | null;
}

const BOUNDS = { maxBytes: 64 * 1024, maxDepth: 20 };
const MAX_TEXT_BYTES = 20 * 1024;
const DEFAULT_LOCALE = 'en';
const MAX_LOCALE_CHARACTERS = 100;

/** Replaces the settings of a template or draft. Returns the id of the template. */
export function setSettings(ctx: Context, templateId: string, settings: Record<string, unknown>): Promise<string> {
  return ctx.transaction(async (tx) => {
    const template = await loadAtVersion(ctx, tx, templateId);
    template.settings = checkSettings(settings);
    return template.id;
  });
}

/** Returns the settings of a template. Throws BAD_USER_INPUT naming the invalid key. Unknown keys belong to clients. */
export function checkSettings<T extends Settings>(settings: T): T {
  checkJsonBounds(settings, 'settings', BOUNDS);
  for (const key of Object.keys(READERS) as (keyof typeof READERS)[]) READERS[key](settings[key]);
  checkFrames({ header: READERS.header(settings['header']), footer: READERS.footer(settings['footer']) });
  return settings;
}

/**
 * Returns the settings that a rendering uses, with defaults. `user` is the caller, whose time zone is the default. A key
 * that is not valid, e.g. in a row of another version, has its default.
 */
export function readSettings(settings: Settings, user?: Partial<Pick<User, 'timezone'>> | null): TemplateSettings {
  const timezone = user?.timezone && isTimezone(user.timezone) ? user.timezone : 'UTC';
  return {
    page: readOr(READERS.page, settings['page'], DEFAULT_PAGE),
    header: readOr(READERS.header, settings['header'], null),
    footer: readOr(READERS.footer, settings['footer'], null),
    locale: readOr(READERS.locale, settings['locale'], null) ?? DEFAULT_LOCALE,
    timezone: readOr(READERS.timezone, settings['timezone'], null) ?? timezone,
    strict: readOr(READERS.strict, settings['strict'], false),
  };
}

function readOr<T>(read: (value: unknown) => T, value: unknown, fallback: T): T {
  try {
    return read(value);
  } catch (error) {
    if (error instanceof ApiError) return fallback;
    throw error;
  }
}

/** Return the value of a key, or the default of an absent key. Throw BAD_USER_INPUT for an invalid value. */
const READERS = {
  page: parsePage,
  header: (value: unknown) => readText(value, 'settings.header'),
  footer: (value: unknown) => readText(value, 'settings.footer'),
  locale: readLocale,
  timezone: readTimezone,
  strict: (value: unknown): boolean => {
    if (value !== undefined && value !== null && typeof value !== 'boolean')
      throw invalid('settings.strict', 'must be true or false');
    return value ?? false;
  },
};

function readText(value: unknown, path: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || Buffer.byteLength(value) > MAX_TEXT_BYTES)
    throw invalid(path, `must be a text of at most ${MAX_TEXT_BYTES / 1024} KiB`);
  return value;
}

function readLocale(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  try {
    if (typeof value === 'string' && value.length <= MAX_LOCALE_CHARACTERS) return Intl.getCanonicalLocales(value)[0]!;
  } catch {
    // The error below names the key.
  }
  throw invalid('settings.locale', 'must be a language tag of BCP 47, e.g. de-DE');
}

function readTimezone(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || !isTimezone(value)) throw invalid('settings.timezone', 'must be an IANA time zone');
  return value;
}
