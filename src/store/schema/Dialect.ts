/** The two databases of the records. A step of the schema is a list of statements for one of them. */
export type Dialect = "sqlite" | "postgres"

/** Returns the statements of a step, or of a part of it, in order. The same list for a dialect at each call: its digest is stored. */
export type Statements = (dialect: Dialect) => ReadonlyArray<string>
