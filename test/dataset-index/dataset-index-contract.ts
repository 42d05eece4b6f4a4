import { afterAll, beforeAll, describe } from 'vitest';
import type { DatasetIndex } from '../../src/core/dataset-index.ts';
import { aggregatingContract } from './aggregating.ts';
import { exactSumsContract } from './exact-sums.ts';
import { exactnessContract } from './exactness.ts';
import { fidelityContract } from './fidelity.ts';
import { lifecycleContract } from './lifecycle.ts';
import { loadingContract } from './loading.ts';
import { profilingContract } from './profiling.ts';
import { readingContract } from './reading.ts';
import { visibleRowsContract } from './visible-rows.ts';
import { wordsContract } from './words.ts';

/** Tests the contract of every dataset index. Each adapter's test runs it on a real index of its own. */
export function datasetIndexContract(name: string, open: () => Promise<DatasetIndex>): void {
  describe(`${name}: contract of a dataset index`, () => {
    let opened: DatasetIndex;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());
    const index = () => opened;
    describe('values', () => {
      fidelityContract(index);
    });
    describe('exact numbers', () => {
      exactnessContract(index);
      exactSumsContract(index);
    });
    describe('reading', () => {
      readingContract(index);
    });
    describe('visible rows', () => {
      visibleRowsContract(index);
    });
    describe('words', () => {
      wordsContract(index);
    });
    describe('aggregating', () => {
      aggregatingContract(index);
    });
    describe('profiling', () => {
      profilingContract(index);
    });
    describe('loading', () => {
      loadingContract(index);
    });
    describe('generations', () => {
      lifecycleContract(index);
    });
  });
}
