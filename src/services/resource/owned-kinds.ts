import { App } from '../../../entities/app.ts';
import { Dataset } from '../../../entities/dataset.ts';
import { Datasource } from '../../../entities/datasource.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import { Report } from '../../../entities/report.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import type { OwnedKind } from './owned-kind.ts';

/** The kinds that people own: one declaration each. */
export const DATASOURCE: OwnedKind<Datasource> = {
  entity: Datasource,
  kind: 'datasource',
  what: 'datasource',
  table: 'datasource',
  events: { config: 'connection.changed', secrets: 'connection.changed' },
};
export const SAVED_QUERY: OwnedKind<SavedQuery> = {
  entity: SavedQuery,
  kind: 'query',
  what: 'query',
  table: 'saved_query',
  silent: ['fields'],
};
export const DATASET: OwnedKind<Dataset> = {
  entity: Dataset,
  kind: 'dataset',
  what: 'dataset',
  table: 'dataset',
  hasParents: true,
};
export const REPORT: OwnedKind<Report> = { entity: Report, kind: 'report', what: 'report', table: 'report' };
export const APP: OwnedKind<App> = { entity: App, kind: 'app', what: 'app', table: 'app', silent: ['envNames'] };

/** All of them, for what is done to every kind alike. */
export const OWNED_KINDS: readonly OwnedKind<OwnedRow>[] = [DATASOURCE, SAVED_QUERY, DATASET, REPORT, APP];
