-- Returns the distinct folded words of a text.
create or replace function dws.words(text)
  returns setof text
  language sql
  immutable parallel safe rows 20
as $$
select distinct left(word, 64)
from regexp_split_to_table(regexp_replace(dws.fold($1), '([\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff])', ' \1 ', 'g'), '[^0-9a-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2dff\u3005\u3007\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\ua000-\uabff\ufb00-\ufdff\ufe70-\ufefc\U00010000-\U0001efff\U00020000-\U0003ffff]+') word
where word <> ''
$$;
