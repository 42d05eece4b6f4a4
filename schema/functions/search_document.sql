-- Returns the words of a resource for the global search: of its name (A), slug (B), tags (C) and description (D), and
-- misspelled words of its name.
create or replace function dws.search_document(name text, slug text, tags text, description text)
  returns tsvector
  language plpgsql
  immutable parallel safe
  set plan_cache_mode to 'force_generic_plan'
as $$
declare
  named text := dws.spaced_words(name);
  document text := regexp_replace(named, '([^ ]{1,64})[^ ]*', '''\1'':1A', 'g');
  word text;
begin
  if slug <> '' then
    document := document || regexp_replace(' ' || dws.spaced_words(slug), '([^ ]{1,64})[^ ]*', '''\1'':2B', 'g');
  end if;
  if tags <> '' then
    document := document || regexp_replace(' ' || dws.spaced_words(tags), '([^ ]{1,64})[^ ]*', '''\1'':3C', 'g');
  end if;
  if description <> '' then
    document := document || regexp_replace(' ' || dws.spaced_words(left(description, 10000)), '([^ ]{1,64})[^ ]*', '''\1'':4D', 'g');
  end if;
  -- The same entries as those of dws.misspellings.
  foreach word in array string_to_array(named, ' ') loop
    continue when length(word) not between 4 and 24;
    document := document || ' ''~' || word || '''';
    for place in 1..length(word) loop
      document := document || ' ''~' || overlay(word placing '' from place for 1) || '''';
    end loop;
  end loop;
  return document::tsvector;
end
$$;
