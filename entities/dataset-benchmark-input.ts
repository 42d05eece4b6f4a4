import { Field, InputType, Int } from 'type-graphql';
import { intRule, Rule, type InputRule } from '../src/core/input-rules.ts';

/** Measured runs of a benchmark. */
export const ITERATIONS_RULE: InputRule = { ...intRule(1, 100), default: 5 };
/** Runs of a benchmark before the measured ones. */
export const WARMUP_RULE: InputRule = { ...intRule(0, 20), default: 1 };

/**
 * The options of a benchmark. The service fills in the defaults, because graphql-jit drops default values of input
 * fields that are false or 0.
 */
@InputType({ description: 'Options of a benchmark.' })
export class DatasetBenchmarkConfigInput {
  @Rule(ITERATIONS_RULE)
  @Field(() => Int, { nullable: true, description: 'Number of measured runs, 1 to 100. Default: 5.' })
  iterations?: number | null;

  @Rule(WARMUP_RULE)
  @Field(() => Int, {
    nullable: true,
    description: 'Number of warm-up runs before the measured ones, 0 to 20; not in the results. Default: 1.',
  })
  warmup?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether each run reads the rows, as a refresh does, and discards them. If false, the datasource counts them. ' +
      'Default: false.',
  })
  includeDataTransfer?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether each run also applies the flow and loads the rows into a temporary index. Implies ' +
      '`includeDataTransfer`. Default: false.',
  })
  includeIndexing?: boolean | null;
}
