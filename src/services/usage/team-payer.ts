/**
 * Returns SQL for the id of the user who pays for a team: an admin, else another member, else a superuser. Takes SQL for
 * the ids of the tenant and the team.
 */
export const teamPayerSql = (tenantId: string, teamId: string): string => `
  coalesce(
    (
      select user_id from dws.team_member
      where tenant_id = ${tenantId} and team_id = ${teamId}
      order by role = 'admin' desc, created_at
      limit 1
    ),
    (select id from dws.app_user where tenant_id = ${tenantId} and superuser order by created_at limit 1)
  )`;
