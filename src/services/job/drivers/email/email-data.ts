import type { JobData } from '../../../../core/job-drivers.ts';

/** `data` of an email action. */
export interface EmailData extends JobData {
  recipients: string[];
  subject: string;
  body: string;
  format?: 'text' | 'html';
  /** Ids of actions. */
  attach?: string[];
  runAs?: 'owner' | 'recipient';
}
