import type { AiEndpoint, AiModel, ModelKind } from '../../core/ai.ts';
import type { Query } from '../../core/database.ts';
import { conflict } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import type { SecretBox } from '../../core/platform.ts';

/** The source of models: a context, or one whose `query` belongs to a transaction. */
export interface ModelSource {
  query: Query;
  viewer: { tenantId: string };
  platform: { secrets: Pick<SecretBox, 'open'> };
}

/** Requirements of a call. */
export interface ModelRequest {
  kind: ModelKind;
  /** Null: the first one. */
  model?: string | null;
  /** Null: the first one of the model. */
  size?: string | null;
  /**
   * Whether the model is named by an assistant and not by the request: an unknown model is then not a mistake in the
   * input.
   */
  isStored?: boolean;
  /** The user whose own providers come first. */
  userId: string;
}

/** A model with the provider that has it. */
export interface ChosenModel {
  provider: {
    id: string;
    name: string;
    /** Whether it is the user's own: then nothing is metered, and neither cap nor tier binds. */
    isOwn: boolean;
  };
  model: AiModel;
  /** Null for a model without sizes. */
  size: string | null;
  /** With the opened key. */
  endpoint: AiEndpoint;
}

interface ProviderRow extends Record<string, unknown> {
  id: string;
  name: string;
  baseUrl: string;
  sealedApiKey: string | null;
  models: AiModel[];
  isOwn: boolean;
}

/**
 * Enabled providers that a user may use: the user's own ones first, then the providers of the tenant, the oldest first.
 */
const PROVIDERS = `
  select id, name, base_url as "baseUrl", sealed_api_key as "sealedApiKey", models, owner_id is not null as "isOwn"
  from dws.ai_provider
  where tenant_id = $1 and enabled and (owner_id is null or owner_id = $2)
  order by owner_id is null, created_at, id`;

/**
 * Returns the enabled provider and the model for a call. Throws CONFLICT if no provider has a model of the kind, or the
 * stored one, and BAD_USER_INPUT for an unknown model or size.
 */
export async function chooseModel(source: ModelSource, request: ModelRequest): Promise<ChosenModel> {
  const { kind, model: wanted, size } = request;
  const rows = await findProviders(source, request.userId);
  const known = rows.flatMap((row) =>
    row.models.filter((model) => model.kind === kind).map((model) => ({ row, model })),
  );
  if (known.length === 0) throw conflict(`No AI provider with a model of the kind ${kind} is configured`);
  const found = wanted == null ? known[0] : known.find(({ model }) => model.id === wanted);
  if (!found) {
    const choice = `must be one of ${[...new Set(known.map(({ model }) => model.id))].join(', ')}`;
    throw request.isStored
      ? conflict(`The model ${wanted} of the assistant is unknown: it ${choice}`)
      : invalid('model', choice);
  }
  return toChosen(source, found.row, found.model, chooseSize(found.model, size));
}

/**
 * Returns a model that was chosen before, with the provider as it is now. Throws CONFLICT if the provider was deleted
 * or disabled, or no longer has the model.
 */
export async function findChosenModel(
  source: ModelSource,
  { providerId, model: id, size, userId }: { providerId: string; model: string; size: string | null; userId: string },
): Promise<ChosenModel> {
  const row = (await findProviders(source, userId)).find((provider) => provider.id === providerId);
  const model = row?.models.find((known) => known.id === id);
  if (!row || !model) throw conflict('The AI provider of the call was changed before the call began');
  return toChosen(source, row, model, size);
}

const findProviders = ({ query, viewer }: ModelSource, userId: string): Promise<ProviderRow[]> =>
  query<ProviderRow>({ text: PROVIDERS, values: [viewer.tenantId, userId] });

const toChosen = (
  { platform }: ModelSource,
  { id, name, baseUrl, sealedApiKey, isOwn }: ProviderRow,
  model: AiModel,
  size: string | null,
): ChosenModel => ({
  provider: { id, name, isOwn },
  model,
  size,
  endpoint: {
    baseUrl,
    apiKey: sealedApiKey === null ? null : platform.secrets.open(sealedApiKey, `the API key of AI provider "${name}"`),
  },
});

function chooseSize({ id, sizes }: AiModel, wanted: string | null | undefined): string | null {
  if (wanted == null) return sizes[0] ?? null;
  if (sizes.includes(wanted)) return wanted;
  throw invalid(
    'size',
    sizes.length === 0 ? `must not be set for the model ${id}` : `must be one of ${sizes.join(', ')}`,
  );
}
