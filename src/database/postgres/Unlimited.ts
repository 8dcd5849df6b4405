/** Lifts the limits of time from the statements of a transaction in Postgres, for a step of the schema that changes a million rows. */
export const unlimited = "SET LOCAL statement_timeout = 0"
