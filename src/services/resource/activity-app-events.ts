import type { AppFile } from '../../../entities/app-file.ts';
import type { App } from '../../../entities/app.ts';
import type { RowChange } from '../../core/platform.ts';
import type { EventDraft } from './activity-draft.ts';
import { FILE_SENTENCES } from './activity-template-events.ts';

/** Drafts the event for a change of a file of an app. */
export function draftAppFileEvent(type: RowChange['type'], { path }: AppFile, app: App): EventDraft {
  return {
    kind: 'app',
    resource: app,
    event: 'updated',
    keys: [],
    data: { fields: ['files'], path },
    sentence: (name) => FILE_SENTENCES[type](path, name),
  };
}
