/** Words of usual names of columns, in the languages of most files. */
const NAME_WORDS = new Set(
  `id key code no nr number name names first last title label description text value type kind class category group
  status state tag tags note notes comment comments remark date day month year time from to start end user person
  people author owner customer client company firm department team role job email mail phone mobile fax url link
  address street zip postcode city town place location country region area language gender sex color colour size
  unit brand model product item article sku order source target file path question answer subject message level
  nummer vorname nachname familienname titel bezeichnung beschreibung wert art typ klasse kategorie gruppe
  bemerkung kommentar datum tag monat jahr zeit kunde kundin firma abteilung telefon adresse straße strasse plz
  ort stadt land sprache geschlecht farbe größe einheit marke modell produkt artikel
  nom prénom titre valeur catégorie groupe statut remarque commentaire client entreprise téléphone rue ville pays
  région langue couleur produit
  nombre apellido apellidos título descripción valor tipo categoría grupo estado nota comentario fecha cliente
  empresa teléfono dirección calle ciudad país región idioma producto
  nome cognome titolo descrizione valore categoria gruppo stato commento data azienda telefono indirizzo via città
  paese regione lingua prodotto`.split(/\s+/),
);
/** A name as programs write it. */
const LOWER_NAME = /^[\p{Ll}_]+$/u;
/** Kinds of characters that distinguish texts. Not all scripts have capitals. */
const DISTINCT = /[Aa9]/;
/** Share of the values of a column that have the shape of most. */
const SAME_SHARE = 0.8;
const MIN_RECORDS = 2;

/**
 * Returns whether texts of a first record could as well be the values of one: each has the capitals, digits and signs
 * of most values below it, and none is a usual name of a column. `columns` are the values below each text. A column in
 * which values recur, but not the first one, has a name.
 */
export function couldBeValues(first: readonly string[], columns: readonly (readonly string[])[]): boolean {
  return first.every((text, i) => {
    const below = columns[i]!;
    const shape = shapeOf(text);
    if (below.length < MIN_RECORDS || isUsualName(text) || !DISTINCT.test(shape)) return false;
    if (new Set(below).size <= below.length / 2 && !below.includes(text)) return false;
    return below.filter((value) => shapeOf(value) === shape).length >= SAME_SHARE * below.length;
  });
}

const isUsualName = (text: string): boolean =>
  LOWER_NAME.test(text) ||
  text
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .some((word) => NAME_WORDS.has(word));

/** Returns the kinds of characters of the words of a text, each once: `Aa` for `New York`, `A-9` for `AB-12`. */
function shapeOf(text: string): string {
  const kinds = text
    .replace(/\p{Lu}+/gu, 'A')
    .replace(/\p{Ll}+/gu, 'a')
    .replace(/\d+/g, '9');
  return [...new Set(kinds.split(/\s+/))].join(' ');
}

/** Values that are not names, and that no name of a column looks like. */
const VALUES = [
  /^[^\s@]+@[^\s@]*[^\s@.]\.[^\s@.]+$/,
  /^[a-z][a-z0-9+.-]*:\/\/\S+$/i,
  /^(?:\/|[a-z]:\\|\.{1,2}\/)\S*$/i,
  /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i,
  /^(?:\w+:)?(?=[a-f]*\d)[0-9a-f]{16,}$/i,
  /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i,
  /^[A-Z]{2}\d{2}[A-Z0-9 ]{8,32}$/,
  /^[$@]\w+$/,
] as const;
const DIGIT = /\d/;
const LETTER = /\p{L}/u;
const MIN_CODE_LENGTH = 5;

/**
 * Returns whether a text of a first record is one of the values below it: an address, an identifier, the same text with
 * another number, or a code whose digits have the same places.
 */
export const hasValue = (first: readonly string[], columns: readonly (readonly string[])[]): boolean =>
  first.some((text, i) => {
    const below = columns[i]!;
    const share = (isLike: (value: string) => boolean) =>
      below.length > 0 && below.filter(isLike).length >= SAME_SHARE * below.length;
    if (VALUES.some((one) => one.test(text) && share((value) => one.test(value)))) return true;
    if (!DIGIT.test(text)) return false;
    // Titles of pages occur again with other numbers, too.
    if (LETTER.test(text) && below.some((value) => withoutNumbers(value) === withoutNumbers(text))) return true;
    return formsOf(text).some((formOf) => share((value) => formOf(value) === formOf(text)));
  });

/** Returns the forms of a text with digits that only a value has in common with most values below it. */
const formsOf = (text: string): ((text: string) => string)[] => [
  ...(text.length >= MIN_CODE_LENGTH || !LETTER.test(text) ? [placesOf] : []),
  ...(/^\d/.test(text) ? [shapeOf] : []),
];

const withoutNumbers = (text: string): string => text.replace(/\d+/g, '9');

const placesOf = (text: string): string =>
  text
    .replace(/\p{Lu}/gu, 'A')
    .replace(/\p{Ll}/gu, 'a')
    .replace(/\d/g, '9');
