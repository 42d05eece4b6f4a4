/** The key of the advisory lock that whoever makes a generation holds until it is published; `$1` is the generation's id. The janitor spares what is locked. */
export const GENERATION_LOCK = `hashtextextended('dws.generation:' || $1, 0)`;
