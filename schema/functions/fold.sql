-- Returns a text without accents, case and ligatures, for comparing names.
create or replace function dws.fold(text)
  returns text
  language sql
  immutable parallel safe
as $$
select replace(replace(replace(replace(translate(lower(normalize(regexp_replace(normalize($1, NFKD), '[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0]+', '', 'g'), NFC)), 'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯÆŒÞẞØŁĐÐĦŊŦøłđðħıȷŋŧĸƀƒǥɨƶς', 'αβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюяæœþßolddhntolddhijntkbfgizσ'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
$$;
