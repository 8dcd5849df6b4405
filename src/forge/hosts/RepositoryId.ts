/** Field that all hosts return for a repository: the numeric id by which match rules may name it. */
import { Schema } from "effect"

export const RepositoryId = Schema.Struct({ id: Schema.Int })
