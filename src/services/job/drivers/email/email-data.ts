/** `data` of an email action. */
export interface EmailData {
  recipients: string[];
  subject: string;
  body: string;
  format?: 'text' | 'html';
  /** Ids of actions. */
  attach?: string[];
  runAs?: 'owner' | 'recipient';
}
