/** Tools with which a model reads the repository beyond the diff, within `review.fetch_extra` (ContextAllowance.ts). */
import { Schema } from "effect"
import { readBase, readBlame, readHead } from "./ReadLines.ts"
import { findReferences, listFiles, searchCode } from "./ReadSearch.ts"
import { bounded, text, tool } from "./Tool.ts"

const Range = Schema.String.check(Schema.isPattern(/^\d{1,8}(-\d{1,8})?$/))

/** `fetch_more_context` and `search_code` describe the fields that others have in common with them. */
const path = { type: "string" }
const range = text("Lines, for example 40-80.")
const scope = text("Folder, file or glob such as src/**/*.ts.")

export const readTools = {
  fetch_more_context: tool({
    description: "Read lines of a file at the reviewed revision.",
    input: Schema.Struct({ path: bounded(1024), range: Schema.optional(Range), reason: bounded(2_000) }),
    properties: {
      path,
      range,
      reason: text("What you need to find out.")
    },
    required: ["path", "reason"],
    run: (input, { reader }) => readHead(reader, input)
  }),
  try_blame: tool({
    description: "See which commits last changed lines of a file.",
    input: Schema.Struct({ path: bounded(1024), range: Schema.optional(Range), reason: bounded(2_000) }),
    properties: { path, range: { type: "string" }, reason: { type: "string" } },
    required: ["path", "reason"],
    run: (input, { reader }) => readBlame(reader, input)
  }),
  read_base: tool({
    description: "Read lines of a file before the change.",
    input: Schema.Struct({ path: bounded(1024), range: Schema.optional(Range) }),
    properties: { path, range: { type: "string" } },
    required: ["path"],
    run: (input, { reader }) => readBase(reader, input)
  }),
  search_code: tool({
    description:
      "Find lines by a regular expression: RE2 syntax, within one line, with two letters or signs that every match contains.",
    input: Schema.Struct({
      pattern: bounded(300),
      path: Schema.optional(bounded(300)),
      ignore_case: Schema.optional(Schema.Boolean)
    }),
    properties: {
      pattern: text("For example \\bparseOrder\\(."),
      path: scope,
      ignore_case: { type: "boolean" }
    },
    required: ["pattern"],
    run: (input, { reader }) => searchCode(reader, input)
  }),
  list_files: tool({
    description: "List the files of a folder and of its folders.",
    input: Schema.Struct({ path: Schema.optional(bounded(300)) }),
    properties: { path },
    required: [],
    run: (input, { reader }) => listFiles(reader, input)
  }),
  find_references: tool({
    description:
      "Find where a name is defined, called and used, without comments and texts where the language is known.",
    input: Schema.Struct({ name: bounded(200), path: Schema.optional(bounded(300)) }),
    properties: { name: text("For example parseOrder."), path },
    required: ["name"],
    run: (input, { reader }) => findReferences(reader, input)
  })
}
