-- Returns the entries of the global search for a word with one wrong, missing or additional letter.
create or replace function dws.misspellings(word text)
  returns setof text
  language sql
  immutable parallel safe rows 10
as $$
select distinct '~' || rtrim(overlay(word || ' ' placing '' from place for 1))
from generate_series(1, length(word) + 1) place
where length(word) between 4 and 24
$$;
