-- Returns the folded words of a text, separated by blanks. Ideographs are words of their own.
create or replace function dws.spaced_words(text)
  returns text
  language plpgsql
  immutable parallel safe
as $$
begin
  if $1 ~ '^[\x20-\x7e]*$' then return regexp_replace(lower($1 collate "C"), '[^0-9a-z]+', ' ', 'g'); end if;
  return regexp_replace(regexp_replace(dws.fold($1), '([\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff])', ' \1 ', 'g'), '[^0-9a-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2dff\u3005\u3007\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\ua000-\uabff\ufb00-\ufdff\ufe70-\ufefc\U00010000-\U0001efff\U00020000-\U0003ffff]+', ' ', 'g');
end
$$;
