/** What all hosts say of a repository: the number by which match rules may name it. */
import { Schema } from "effect"

export const RepositoryId = Schema.Struct({ id: Schema.Int })
