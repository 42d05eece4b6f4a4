import { MODEL_TIERS } from '../src/core/ai.ts';
import { wordEnum } from './word-enum.ts';

/** Tiers of models. REST prints the words, e.g. `everyday`. */
export const ModelTierEnum = wordEnum(
  'ModelTier',
  'Tier of AI models.',
  MODEL_TIERS,
  (tier) =>
    ({
      everyday: 'Models for everyday tasks.',
      advanced: 'More capable models.',
      strategic: 'The most capable models.',
    })[tier],
);
