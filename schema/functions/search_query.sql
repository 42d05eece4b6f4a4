-- Returns the query of the global search for a text, on request with misspelled words. `mark` is appended to each word.
create or replace function dws.search_query(q text, mark text, misspellings boolean)
  returns tsquery
  language plpgsql
  immutable parallel safe
  set plan_cache_mode to 'force_generic_plan'
as $$
begin
  return (
    select string_agg('(' || quote_literal(word) || mark || coalesce(misspelled, '') || ')', ' & ')::tsquery
    from dws.words(q) word
    left join lateral (
      select string_agg(' | ' || quote_literal(entry), '') as misspelled from dws.misspellings(word) entry where misspellings
    ) m on true
  );
end
$$;
