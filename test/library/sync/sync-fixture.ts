import type { LibrarySync } from '../../../entities/library-sync.ts';
import type { LibrarySettings } from '../../../entities/library.ts';
import type { Context } from '../../../src/core/context.ts';
import type { Drive } from '../../../src/core/drive.ts';
import { newId } from '../../../src/core/id.ts';
import type { LibrarySyncInput } from '../../../src/core/operations.ts';
import type { Platform } from '../../../src/core/platform.ts';
import { createHandlers } from '../../../src/operations/handlers.ts';
import { librarySync } from '../../../src/operations/library-sync.ts';
import { syncKeyOf } from '../../../src/services/library/start-sync.ts';
import { wait } from '../../../src/services/operation/operation-wait.ts';
import * as operations from '../../../src/services/operation/operation.ts';
import { startDriveFake } from '../../../tools/drive-fake.ts';
import type { DriveFake } from '../../../tools/drive-fake/fake-server.ts';
import { rows, test as base, type World } from '../../operation/fixture.ts';
import { ScriptedDrive } from '../../support/scripted-drive.ts';

/** A library of a scripted drive, and a worker that syncs it. */
export interface SyncedWorld {
  world: World;
  ctx: Context;
  drive: ScriptedDrive;
  libraryId: string;
  /** Starts a sync. Returns the id of its operation. */
  start(flags?: Partial<LibrarySyncInput>): Promise<string>;
  /** Syncs and returns the result. */
  sync(flags?: Partial<LibrarySyncInput>): Promise<LibrarySync>;
  /** Returns the paths of the files that have contents, with the contents. */
  contents(): Promise<Record<string, string>>;
  setSettings(settings: Partial<LibrarySettings>): Promise<void>;
  /** The account that the next sync finds. */
  account: { id: string };
}

const SETTINGS: LibrarySettings = { rootId: null, extensions: [], maxFileBytes: 100_000_000 };

/** Creates a library. Returns its id. */
export async function createLibrary(world: World, ctx: Context, slug = 'files'): Promise<string> {
  const id = newId();
  await rows(
    world,
    `insert into dws.library (id, tenant_id, slug, name, owner_id, settings) values ($1, $2, $5, 'Files', $3, $4)`,
    [id, ctx.viewer.tenantId, `user:${ctx.viewer.userId}`, JSON.stringify(SETTINGS), slug],
  );
  return id;
}

/** Starts a sync without the checks of the API. Returns the id of its operation. */
export const startSync = (ctx: Context, libraryId: string, flags: Partial<LibrarySyncInput> = {}): Promise<string> => {
  const input = { purge: false, dryRun: false, full: false, ...flags, libraryId };
  return ctx.transaction((tx) =>
    operations.start(ctx, tx, {
      operation: 'library.sync',
      resource: { kind: 'library', id: libraryId },
      input,
      unit: 'files',
      concurrencyKey: syncKeyOf(libraryId),
      fingerprint: JSON.stringify(input),
    }),
  );
};

/** Returns a drive that needs no connection. */
export const openScripted = ({ outbound }: Platform, drive: Drive, signal: AbortSignal, validFor = 'one') => ({
  drive,
  validFor,
  access: { outbound, apiUri: drive.defaults.apiUri, contentUri: null, token: async () => 'token', signal },
});

/** Returns a handler of syncs with a drive. */
export const handlerOf = (drive: Drive, account: { id: string } = { id: 'one' }) =>
  librarySync(async (platform, { settings }, signal) =>
    openScripted(platform, drive, signal, JSON.stringify([account.id, settings])),
  );

/** Returns the contents of the files of a library, by their paths. */
export async function readContents(world: World, libraryId: string): Promise<Record<string, string>> {
  const files = await rows(
    world,
    `select path, stored_file_id as id from dws.library_file
    where library_id = $1 and stored_file_id is not null
    order by path`,
    [libraryId],
  );
  const contents: Record<string, string> = {};
  for (const { path, id } of files) contents[path as string] = String(await world.platform.files.read(id as string));
  return contents;
}

export const test = base.extend<{ synced: SyncedWorld }>({
  synced: async ({ world }, use) => {
    const ctx = await world.caller();
    const drive = new ScriptedDrive();
    const account = { id: 'one' };
    const libraryId = await createLibrary(world, ctx);
    await world.startWorker({ 'library.sync': handlerOf(drive, account) });
    const start = (flags: Partial<LibrarySyncInput> = {}) => startSync(ctx, libraryId, flags);
    await use({
      world,
      ctx,
      drive,
      libraryId,
      account,
      start,
      sync: async (flags) => (await wait(ctx, await start(flags))).result as unknown as LibrarySync,
      contents: () => readContents(world, libraryId),
      async setSettings(settings) {
        await rows(world, `update dws.library set settings = settings || $2 where id = $1`, [
          libraryId,
          JSON.stringify(settings),
        ]);
      },
    });
  },
});

/** Connects a library with a fake of a drive, with the user of a context as the owner. */
export async function connectFake(world: World, ctx: Context, libraryId: string, fake: DriveFake): Promise<void> {
  const { tenantId, userId } = ctx.viewer;
  const { apiUri, contentUri, authUri, tokenUri } = fake.addresses;
  const integrationId = newId();
  const tokens = { accessToken: fake.authority.issueToken(), refreshToken: null, expiresAt: null };
  await rows(
    world,
    `insert into dws.integration (id, tenant_id, name, type, auth_type, client_id, auth_uri, token_uri, api_uri,
      content_uri, scope)
    values ($1, $2, 'Drive', $7, 'oauth2', 'client', $3, $4, $5, $6, 'read')`,
    [integrationId, tenantId, authUri, tokenUri, apiUri, contentUri, fake.protocol.type],
  );
  await rows(world, `update dws.library set integration_id = $2 where id = $1`, [libraryId, integrationId]);
  await rows(
    world,
    `insert into dws.connection (id, tenant_id, library_id, integration_id, owner_id, status, sealed_tokens,
      last_authorized_at)
    values ($1, $2, $3, $4, $5, 'connected', $6, now())`,
    [newId(), tenantId, libraryId, integrationId, userId, world.platform.secrets.seal(JSON.stringify(tokens))],
  );
}

/** A library that is connected with a fake of a drive. */
export interface SyncedFake {
  fake: DriveFake;
  tree: DriveFake['tree'];
  libraryId: string;
  sync(flags?: Partial<LibrarySyncInput>): Promise<LibrarySync>;
  /** Returns the paths of the files that have contents, with the contents. */
  contents(): Promise<Record<string, string>>;
  /** Sets the folder that the library follows. */
  follow(path: string): Promise<void>;
}

/** Opens libraries of fakes of drives, one for each. */
export const fakeTest = base.extend<{ openFake: (provider: string) => Promise<SyncedFake> }>({
  openFake: async ({ world }, use) => {
    const fakes: DriveFake[] = [];
    const ctx = await world.caller();
    await world.startWorker(createHandlers(world.loaders));
    await use(async (provider) => {
      const fake = await startDriveFake(provider);
      fakes.push(fake);
      const libraryId = await createLibrary(world, ctx);
      await connectFake(world, ctx, libraryId, fake);
      return {
        fake,
        tree: fake.tree,
        libraryId,
        sync: async (flags) =>
          (await wait(ctx, await startSync(ctx, libraryId, flags))).result as unknown as LibrarySync,
        contents: () => readContents(world, libraryId),
        async follow(path) {
          const rootId = fake.tree.at(path).id;
          await rows(world, `update dws.library set settings = settings || $2 where id = $1`, [
            libraryId,
            JSON.stringify({ rootId }),
          ]);
        },
      };
    });
    for (const fake of fakes) await fake.close();
  },
});
