/** Defines pattern fields: path globs, and matchers with exactly one of exact, glob and regex. */
import { Schema } from "effect"
import { RE2JS } from "re2js"
import { expandBraces } from "../../domain/Braces.ts"
import { maxAlternatives } from "../../domain/Globs.ts"
import { optional } from "../Field.ts"
import { checked, Flag, LimitsKey } from "../Scalars.ts"

/** Maximum length of a pattern. */
const maxPattern = 1024

/** A path glob of `review`: `*`, `**`, `?`, classes and braces; relative, no traversal. */
export const Glob = checked(
  `a path glob of 1 to ${maxPattern} characters, relative, without ".." segments, whose braces expand to at most ${maxAlternatives} patterns`,
  "glob",
  (value) =>
    value.length >= 1 &&
    value.length <= maxPattern &&
    !value.startsWith("/") &&
    !value.split("/").includes("..") &&
    expandBraces(value, maxAlternatives + 1).length <= maxAlternatives
)

/** A linear-time regular expression (RE2 syntax: no backreferences, no lookaround). */
const Regex = checked(
  `a regular expression in RE2 syntax (no backreferences, no lookaround) of at most ${maxPattern} characters`,
  "re2",
  (value) => {
    if (value.length === 0 || value.length > maxPattern) return false
    try {
      RE2JS.compile(value)
      return true
    } catch {
      return false
    }
  }
)

/** A glob over a whole field: `*` crosses `/`, `?` is one code point, everything else is literal. */
export const FieldGlob = checked(
  `a glob of 1 to ${maxPattern} characters where * is any text and ? one character`,
  "field-glob",
  (value) => value.length >= 1 && value.length <= maxPattern
)

const exactText = checked("text to be equal to", "exact", (value) => value.length >= 1 && value.length <= maxPattern)

const matcherFields = {
  glob: optional(
    FieldGlob,
    "Glob over the whole field; `*` also matches `/`, `?` matches one character, all others match themselves.",
    {
      exclusive: ["regex"]
    }
  ),
  regex: optional(Regex, "Linear-time regular expression; matches anywhere unless anchored with ^ and $."),
  ignore_case: optional(Flag, "Ignore upper and lower case in the comparison.", { runtimeDefault: false })
}

/** A matcher with exactly one of glob and regex. */
export const Matcher = Schema.Struct(matcherFields).annotate({
  [LimitsKey]: { expected: "exactly one of glob and regex", oneOf: ["glob", "regex"] }
})

/** Defines a matcher with exactly one of exact, glob and regex. */
export const sourceMatcher = <const S extends Schema.Top>(exact: S) =>
  Schema.Struct({
    exact: optional(exact, "Case-sensitive equality.", { exclusive: ["glob", "regex"] }),
    ...matcherFields
  }).annotate({ [LimitsKey]: { expected: "exactly one of exact, glob and regex", oneOf: ["exact", "glob", "regex"] } })

export const SourceMatcher = sourceMatcher(exactText)
