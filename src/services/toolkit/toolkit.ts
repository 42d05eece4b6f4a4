import { isDeepStrictEqual } from 'node:util';
import { TOOLKIT } from '../../../entities/owned-kinds.ts';
import type { CreateToolkitInput, ToolkitToolInput, UpdateToolkitInput } from '../../../entities/toolkit-input.ts';
import { ToolkitTool } from '../../../entities/toolkit-tool.ts';
import type { Toolkit, ToolkitServerInfo } from '../../../entities/toolkit.ts';
import type { Context } from '../../core/context.ts';
import { assignPresent, invalid } from '../../core/input-checks.ts';
import { MASK } from '../../core/mask.ts';
import type { Transaction } from '../../core/platform.ts';
import { endConnections } from '../connection/end-connections.ts';
import { forgetRegistration } from '../connection/registered-client.ts';
import { loadResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkUnused } from '../resource/references.ts';
import { findAltered, resolveQueries, toolsOf } from './custom-tool.ts';
import { checkToolkitConfig, loadSealedSecrets, openConfig } from './toolkit-config.ts';
import type { CustomConfig, RemoteConfig } from './toolkit-driver.ts';
import { withoutQuery } from './toolkit-secrets.ts';
import { checkReportedTools, storeTools } from './toolkit-tool.ts';

/** The report of a client that runs an MCP server. */
interface Report {
  tools?: ToolkitToolInput[];
  serverInfo?: ToolkitServerInfo | null;
}

/** Creates a toolkit. No server is called. Returns its id. */
export async function create(
  ctx: Context,
  { type, config, enabled, tools, serverInfo, ...input }: CreateToolkitInput,
): Promise<string> {
  const checked = await checkToolkitConfig(ctx, type, config);
  return ctx.transaction(async (tx) => {
    const content = { type, ...checked, enabled: enabled ?? true };
    if (type === 'custom') content.config = await resolveQueries(ctx, tx, checked.config as CustomConfig, null);
    const toolkit = await createOwned(ctx, tx, TOOLKIT, input, content);
    if (type === 'custom') await storeCustomTools(tx, toolkit, { isFirst: true });
    await storeReport(tx, toolkit, { tools, serverInfo });
    return toolkit.id;
  });
}

/** Updates a toolkit. Returns its id. */
export async function update(
  ctx: Context,
  id: string,
  { config, enabled, tools, serverInfo, ...input }: UpdateToolkitInput,
): Promise<string> {
  const { toolkitId, ended } = await ctx.transaction(async (tx) => {
    const toolkit = await loadResource(ctx, tx, TOOLKIT, id, 'toolkit:write', { ifMatch: ctx.ifMatch });
    assignPresent<Pick<Toolkit, 'enabled'>>(toolkit, { enabled });
    if (config === null) throw invalid('config', 'must not be null');
    const changed = config !== undefined && (await updateConfig(ctx, tx, toolkit, config));
    const connection = changed ? await endConnections(ctx, tx, { toolkitId: toolkit.id }) : null;
    await storeReport(tx, toolkit, { tools, serverInfo });
    await updateOwned(ctx, tx, TOOLKIT, toolkit, input);
    return { toolkitId: toolkit.id, ended: connection };
  });
  await ended?.revoke();
  return toolkitId;
}

/**
 * Sets the configuration. Returns whether the connection ends, because its tokens belong to another server or OAuth
 * client.
 */
async function updateConfig(
  ctx: Context,
  tx: Transaction,
  toolkit: Toolkit,
  input: Record<string, unknown>,
): Promise<boolean> {
  const { name, type, config: former } = toolkit;
  const sealed = await loadSealedSecrets(tx, toolkit);
  const { config, sealedSecrets } = await checkToolkitConfig(ctx, type, input, { name, sealedSecrets: sealed });
  toolkit.config =
    type === 'custom' ? await resolveQueries(ctx, tx, config as CustomConfig, former as CustomConfig) : config;
  // Encryption returns a different text each time, so equal secrets keep theirs.
  if (!isSameSecret(ctx, name, sealed, sealedSecrets ?? null)) toolkit.sealedSecrets = sealedSecrets ?? null;
  if (type === 'custom') {
    const open = (stored: Pick<Toolkit, 'config' | 'sealedSecrets'>) =>
      openConfig(ctx.platform, type, { name, ...stored }) as CustomConfig;
    const current = { config: toolkit.config, sealedSecrets };
    const altered = findAltered(open({ config: former, sealedSecrets: sealed }), open(current));
    await storeCustomTools(tx, toolkit, { isFirst: false, altered });
  }
  if (type !== 'mcp-remote') return false;
  const hasMoved = !isDeepStrictEqual(serverOf(toolkit.config), serverOf(former));
  const secret = (input as Partial<RemoteConfig>).oauth?.clientSecret;
  if (hasMoved || (secret !== undefined && secret !== MASK)) forgetRegistration(tx, toolkit);
  return hasMoved;
}

/** Returns the settings that the tokens of a connection depend on. */
function serverOf(config: Record<string, unknown>): unknown {
  const { url, oauth } = config as RemoteConfig;
  return [withoutQuery(url), oauth];
}

function isSameSecret({ platform: { secrets } }: Context, name: string, a: string | null, b: string | null): boolean {
  const open = (sealed: string | null): unknown =>
    sealed && JSON.parse(secrets.open(sealed, `the secrets of toolkit "${name}"`));
  return isDeepStrictEqual(open(a), open(b));
}

async function storeCustomTools(
  tx: Transaction,
  toolkit: Toolkit,
  more: { isFirst: boolean; altered?: ReadonlySet<string> },
): Promise<void> {
  const config = toolkit.config as CustomConfig;
  const queryIds = new Map(config.tools.flatMap(({ name, queryId }) => (queryId ? [[name, queryId]] : [])));
  await storeTools(tx, toolkit, toolsOf(config), { ...more, queryIds });
}

/**
 * Stores the report of a client about its own server. Ignores it for other toolkits, and for a toolkit without a
 * discovery if it says that nothing was found. So a record that was read can be sent back.
 */
async function storeReport(tx: Transaction, toolkit: Toolkit, { tools, serverInfo }: Report): Promise<void> {
  if (toolkit.type !== 'mcp-stdio') return;
  const isFirst = !toolkit.discoveredAt;
  const formerInfo = toolkit.serverInfo ?? null;
  const newInfo = serverInfo === undefined ? formerInfo : serverInfo && { ...serverInfo };
  const isNewInfo = !isDeepStrictEqual(newInfo, formerInfo);
  if (isNewInfo) toolkit.serverInfo = newInfo;
  const found = tools && checkReportedTools(tools);
  if (!found || (isFirst && found.length === 0 && !newInfo)) return;
  const former = await tx.find(ToolkitTool, { toolkitId: toolkit.id }, { orderBy: ['position'] });
  const { added, removed, changed } = await storeTools(tx, toolkit, found, { isFirst });
  const isReordered = former.some(({ name }, index) => found[index]?.name !== name);
  if (isFirst || isNewInfo || isReordered || added.length + removed.length + changed.length > 0)
    toolkit.discoveredAt = new Date();
}

/** Deletes a toolkit with its tools and its connection. Throws CONFLICT listing its users if it is in use. */
export async function remove(ctx: Context, id: string): Promise<void> {
  const { revoke } = await ctx.transaction(async (tx) => {
    const toolkit = await loadResource(ctx, tx, TOOLKIT, id, 'toolkit:delete', { ifMatch: ctx.ifMatch });
    await checkUnused(ctx, tx, 'toolkit', toolkit.id);
    const ended = await endConnections(ctx, tx, { toolkitId: toolkit.id });
    tx.remove(toolkit);
    return ended;
  });
  await revoke();
}
