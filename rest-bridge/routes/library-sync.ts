import { operation } from '../operation.ts';
import { value } from '../present.ts';
import { post } from '../route.ts';

export default [
  post(
    '/libraries/:id/_sync',
    'syncLibrary',
    operation(
      value(
        'syncedFiles addedFiles updatedFiles deletedFiles skippedFiles errors { fileId path code message } errorCount ' +
          'full dryRun changes { action fileId path size }',
      ),
    ),
    { example: { full: true } },
  ),
];
