export * from '../../../entities/owned-kinds.ts';
