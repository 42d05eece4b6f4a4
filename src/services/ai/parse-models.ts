import type { AiModelInput } from '../../../entities/ai-provider-input.ts';
import type { AiModel } from '../../core/ai.ts';
import { invalid } from '../../core/input-checks.ts';

const PRICE_DECIMALS = 9;
const MAX_PRICE = 1_000_000;

/**
 * Returns the models of an input as they are stored, with prices as exact decimals. Throws BAD_USER_INPUT for an id that
 * occurs twice, and for prices and sizes that a model of its kind lacks or must not have.
 */
export function parseModels(inputs: readonly AiModelInput[]): AiModel[] {
  const ids = new Set<string>();
  return inputs.map((input, index) => {
    const path = `models.${index}`;
    const id = input.id.trim();
    if (ids.has(id)) throw invalid(`${path}.id`, 'must be unique within the provider');
    ids.add(id);
    const isImage = input.kind === 'image';
    const sizes = [...new Set(input.sizes)];
    if (!isImage && sizes.length > 0) throw invalid(`${path}.sizes`, 'must be empty for a chat model');
    return {
      id,
      kind: input.kind,
      tier: input.tier,
      sizes,
      price: parsePrice(input.price, `${path}.price`, isImage, input.kind),
      inputPrice: parsePrice(input.inputPrice, `${path}.inputPrice`, !isImage, input.kind),
      outputPrice: parsePrice(input.outputPrice, `${path}.outputPrice`, !isImage, input.kind),
    };
  });
}

/** Returns a price as a decimal; null if the model has none. */
function parsePrice(price: number | null | undefined, path: string, isRequired: boolean, kind: string): string | null {
  if (price === null || price === undefined) {
    if (isRequired) throw invalid(path, `is required for a model of the kind ${kind}`);
    return null;
  }
  if (!isRequired) throw invalid(path, `must not be set for a model of the kind ${kind}`);
  const text = price.toFixed(PRICE_DECIMALS);
  // The client sent the shortest decimal of a number: it must not have more decimals than are kept.
  if (price < 0 || price > MAX_PRICE || Number(text) !== price)
    throw invalid(path, `must be a number from 0 to ${MAX_PRICE} with at most ${PRICE_DECIMALS} decimals`);
  return text.replace(/\.0+$|(?<!0)0+$/, '');
}
