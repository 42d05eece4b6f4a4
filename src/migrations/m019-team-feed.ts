import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** The types of activities that feeds showed when this migration was written (src/core/feed.ts). */
const SHOWN = String.raw`^[a-z]+\.(created|updated|connection\.changed|deleted|shared|draft\.committed|refresh\.failed)$`;

/** Creates the feeds and the comments of teams. */
export class TeamFeeds extends Migration {
  override up(): void {
    this.createFeeds();
    this.addSql(
      `create table dws.team_comment (${ROW},
        team_id uuid not null references dws.team on delete cascade,
        user_id uuid references dws.app_user on delete set null,
        message text not null check (char_length(message) between 1 and 10000));`,
    );
    this.addSql(`create index team_comment_team on dws.team_comment (tenant_id, team_id, created_at, id);`);
    this.addSql(`create index team_comment_user on dws.team_comment (user_id);`);
    this.addSql(ofTenants('team_comment'));
  }

  /**
   * Marks the activities that are in the feed of a team, so that a page of it is one range of an index. The marks of
   * earlier activities are generated, because row-level security hides these from an `update`.
   */
  private createFeeds(): void {
    this.addSql(
      `alter table dws.activity add column in_feed boolean not null
        generated always as (coalesce(owner_id like 'team:%', false) and type ~ '${SHOWN}') stored;`,
    );
    this.addSql(
      `alter table dws.activity alter column in_feed drop expression, alter column in_feed set default false;`,
    );
    // Nothing else reads the activities of an owner.
    this.addSql(`drop index dws.activity_owner;`);
    this.addSql(
      `create index activity_feed on dws.activity (tenant_id, owner_id, created_at desc, id desc) where in_feed;`,
    );
    this.addSql(
      `create trigger tell_feed after insert on dws.activity for each row when (new.in_feed)
        execute function dws.tell('dws_feed', 'owner_id');`,
    );

    // The activities that a user has viewed in a feed.
    this.addSql(
      `create table dws.feed_view (
        activity_id uuid references dws.activity on delete cascade,
        user_id uuid references dws.app_user on delete cascade,
        tenant_id uuid not null references dws.tenant,
        primary key (activity_id, user_id));`,
    );
    this.addSql(`create index feed_view_user on dws.feed_view (user_id);`);
    this.addSql(ofTenants('feed_view'));
  }
}
