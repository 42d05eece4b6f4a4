import type { LibrarySettings } from '../../../entities/library.ts';
import { invalid } from '../../core/input-checks.ts';
import { textRule, violation } from '../../core/input-rules.ts';

const DEFAULT_MAX_FILE_BYTES = 100_000_000;
const MAX_FILE_BYTES = 5_000_000_000;
const MAX_EXTENSIONS = 100;
const MAX_ROOT_ID_CHARACTERS = 1000;
const EXTENSION = /^\.?([^\s./\\\p{Cc}]{1,20})$/u;

/** Returns valid settings, with defaults for absent keys. Throws BAD_USER_INPUT that names the path of a wrong value. */
export function checkSettings(settings: Record<string, unknown>): LibrarySettings {
  const { rootId, extensions, maxFileBytes, ...others } = settings;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid('settings', `has the unknown key ${JSON.stringify(unknown.slice(0, 100))}`);
  return {
    rootId: checkRootId(rootId ?? null),
    extensions: checkExtensions(extensions ?? []),
    maxFileBytes: checkMaxFileBytes(maxFileBytes ?? DEFAULT_MAX_FILE_BYTES),
  };
}

function checkRootId(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== 'string') throw invalid('settings.rootId', 'must be a text or null');
  const problem = violation(textRule(MAX_ROOT_ID_CHARACTERS), value);
  if (problem !== undefined) throw invalid('settings.rootId', problem);
  return value;
}

function checkExtensions(value: unknown): string[] {
  if (!Array.isArray(value) || value.length > MAX_EXTENSIONS)
    throw invalid('settings.extensions', `must be a list of at most ${MAX_EXTENSIONS} extensions`);
  const extensions = value.map((item: unknown, index) => {
    const name = typeof item === 'string' ? EXTENSION.exec(item)?.[1] : undefined;
    if (name === undefined)
      throw invalid(`settings.extensions.${index}`, 'must be an extension of 1 to 20 characters, e.g. pdf');
    return name.toLowerCase();
  });
  return [...new Set(extensions)];
}

function checkMaxFileBytes(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > MAX_FILE_BYTES)
    throw invalid('settings.maxFileBytes', `must be a whole number from 1 to ${MAX_FILE_BYTES}`);
  return value;
}
