import type { TemplateProcessorType } from '../../../../entities/template-processor.ts';
import { AGGREGATE_PROCESSOR } from './aggregate-processor.ts';
import { DATASET_PROCESSOR } from './dataset-processor.ts';
import type { Processor } from './processor.ts';
import { QUERY_PROCESSOR } from './query-processor.ts';
import { VISUAL_PROCESSOR } from './visual-processor.ts';

const PROCESSORS: Readonly<Record<TemplateProcessorType, Processor>> = {
  dataset: DATASET_PROCESSOR,
  aggregate: AGGREGATE_PROCESSOR,
  visual: VISUAL_PROCESSOR,
  query: QUERY_PROCESSOR,
};

/** Returns the processor of a type. */
export const processorOf = (type: TemplateProcessorType): Processor => PROCESSORS[type];
