import 'reflect-metadata';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MODELS } from '../../src/services/assembly/model-registry.ts';

const ENTITIES = join(import.meta.dirname, '../../entities');

/** Entities without a read model, with the reason. */
const WITHOUT_MODEL: Readonly<Record<string, string>> = {
  Generation: 'no field of the API returns it; refreshes read and write it with SQL',
  PasswordReset: 'it contains the hash of a secret, and its reader has no credentials yet',
  Tenant: 'it has no tenant column; only the system pool reads it',
};

/** The concrete classes with `@Entity` above them. */
function storedEntities(): string[] {
  const sources = readdirSync(ENTITIES).map((file) => readFileSync(join(ENTITIES, file), 'utf8'));
  return sources.flatMap((source) =>
    [...source.matchAll(/^@Entity\([^)]*\)\n(?:@.*\n)*export class (\w+)/gm)].map(([, name]) => name!),
  );
}

test('every entity has a read model or a reason for having none', () => {
  // Views, not stored entities.
  const modelled = MODELS.map(({ entity }) => entity.name).filter(
    (name) => !['FavoriteResource', 'FeedItem', 'Resource'].includes(name),
  );
  expect([...modelled, ...Object.keys(WITHOUT_MODEL)].toSorted()).toEqual(storedEntities().toSorted());
});

test('no entity has two read models', () => {
  const entities = MODELS.map(({ entity }) => entity);
  expect(new Set(entities).size).toBe(entities.length);
});
