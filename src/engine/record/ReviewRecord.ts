/**
 * The reads of a review of the service, stored with the responses of its models (llm/Evidence.ts), so that `aicr
 * replay` can run it again without host and repository. Secrets are removed line by line, so that every line keeps its
 * number.
 *
 * ```
 * runs/<run>/review.json    texts of files, lists, blame, further repositories, the analysis it carried on from
 * runs/<run>/diff           the diff, as git printed it
 * ```
 */
import { Schema } from "effect"
import { Acceptance } from "../../domain/Acceptance.ts"
import { Analysis } from "../../domain/Analysis.ts"
import { BlameLine } from "../../vcs/Checkout.ts"
import { Lesson } from "../../domain/Lesson.ts"
import { Reason } from "../../domain/Reason.ts"
import { EarlierRounds } from "../../domain/Round.ts"

const Read = Schema.Struct({ key: Schema.String, text: Schema.optional(Schema.String) })
/** Paths that git found. */
const Searches = Schema.optional(
  Schema.Array(Schema.Struct({ key: Schema.String, paths: Schema.Array(Schema.String), more: Schema.Boolean }))
)
const Entry = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("File"), text: Schema.String }),
  Schema.Struct({ _tag: Schema.Literal("Directory"), names: Schema.Array(Schema.String), more: Schema.Int }),
  Schema.Struct({ _tag: Schema.Literal("Refused"), why: Schema.String })
])

export const ReviewRecord = Schema.Struct({
  version: Schema.Literal(1),
  head: Schema.String,
  from: Schema.String,
  title: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  issues: Schema.optional(Schema.Array(Schema.Struct({ number: Schema.Int, title: Schema.String }))),
  focus: Schema.optional(Schema.String),
  filters: Schema.Struct({
    watchPath: Schema.Array(Schema.String),
    include: Schema.Array(Schema.String),
    exclude: Schema.Array(Schema.String)
  }),
  previous: Schema.optional(Analysis),
  round: Schema.optional(EarlierRounds),
  lessons: Schema.optional(Schema.Array(Lesson)),
  acceptance: Schema.optional(Acceptance),
  /** Inputs of the plan of its passes. Absent if none was made. */
  facts: Schema.optional(
    Schema.Struct({ basePrompt: Schema.optional(Schema.String), contextWindow: Schema.optional(Schema.Number) })
  ),
  /** Every path that the change touches; absent where there were too many. */
  changes: Schema.optional(
    Schema.Array(
      Schema.Struct({
        path: Schema.String,
        status: Schema.Literals(["added", "deleted", "modified"]),
        oldMode: Schema.optional(Schema.String),
        newMode: Schema.optional(Schema.String),
        size: Schema.Int
      })
    )
  ),
  /** Texts of files, keyed by `head:<path>`, `from:<path>` or `rules:<path>`. An entry without a text is a missing file. */
  files: Schema.Array(Read),
  lists: Schema.Array(Schema.Struct({ key: Schema.String, names: Schema.Array(Schema.String) })),
  blames: Schema.Array(
    Schema.Struct({
      key: Schema.String,
      lines: Schema.Array(BlameLine)
    })
  ),
  searches: Searches,
  /** Uses of changed names; absent in records of earlier releases, which have the files they were found in. */
  references: Schema.optional(
    Schema.Array(
      Schema.Struct({
        path: Schema.String,
        line: Schema.Int,
        text: Schema.String,
        reference: Schema.Struct({
          name: Schema.String,
          change: Schema.Literals(["changed", "removed"]),
          definedIn: Schema.String,
          kind: Schema.Literals(["definition", "call", "use"])
        })
      })
    )
  ),
  commits: Schema.optional(
    Schema.Array(Schema.Struct({ id: Schema.String, title: Schema.String, diff: Schema.String }))
  ),
  messages: Schema.optional(Schema.Array(Schema.String)),
  context: Schema.Struct({
    notices: Schema.Array(Reason),
    mounted: Schema.Array(
      Schema.Struct({
        alias: Schema.String,
        commit: Schema.String,
        reads: Schema.Array(Schema.Struct({ key: Schema.String, entry: Entry })),
        searches: Searches
      })
    )
  }),
  /** Whether the review read more than is stored. */
  cut: Schema.Boolean
})
export type ReviewRecord = typeof ReviewRecord.Type
