/** Defines pattern fields: path globs, and matchers with exactly one of exact, glob and regex. */
import { Schema } from "effect"
import { RE2JS } from "re2js"
import { expandBraces } from "../../domain/Braces.ts"
import { maxAlternatives } from "../../domain/Globs.ts"
import { optional } from "../fields/Field.ts"
import { checked, Flag, LimitsKey } from "../fields/Scalars.ts"

/** Maximum length of a pattern. */
const maxPattern = 1024

/** A path glob of `review`: `*`, `**`, `?`, classes and braces; relative, no traversal. */
export const Glob = checked(
  { _tag: "PathGlobForm", characters: maxPattern, patterns: maxAlternatives },
  "glob",
  (value) =>
    value.length >= 1 &&
    value.length <= maxPattern &&
    !value.startsWith("/") &&
    !value.split("/").includes("..") &&
    expandBraces(value, maxAlternatives + 1).length <= maxAlternatives
)

/** A linear-time regular expression (RE2 syntax: no backreferences, no lookaround). */
const Regex = checked({ _tag: "RegularExpression", characters: maxPattern }, "re2", (value) => {
  if (value.length === 0 || value.length > maxPattern) return false
  try {
    RE2JS.compile(value)
    return true
  } catch {
    return false
  }
})

/** A glob over a whole field: `*` crosses `/`, `?` is one code point, everything else is literal. */
export const FieldGlob = checked(
  { _tag: "FieldGlobForm", characters: maxPattern },
  "field-glob",
  (value) => value.length >= 1 && value.length <= maxPattern
)

const exactText = checked({ _tag: "TextToEqual" }, "exact", (value) => value.length >= 1 && value.length <= maxPattern)

const matcherFields = {
  glob: optional(FieldGlob, "review.auto_commit.exclude_sources[].match.author.glob", {
    exclusive: ["regex"]
  }),
  regex: optional(Regex, "review.auto_commit.exclude_sources[].match.author.regex"),
  ignore_case: optional(Flag, "review.auto_commit.exclude_sources[].match.author.ignore_case", {
    runtimeDefault: false
  })
}

/** A matcher with exactly one of glob and regex. */
export const Matcher = Schema.Struct(matcherFields).annotate({
  [LimitsKey]: { expected: { _tag: "ExactlyOneOf", fields: ["glob"], last: "regex" }, oneOf: ["glob", "regex"] }
})

/** Defines a matcher with exactly one of exact, glob and regex. */
export const sourceMatcher = <const S extends Schema.Top>(exact: S) =>
  Schema.Struct({
    exact: optional(exact, "workspaces.instances.<id>.match[].source.repo_ref.exact", { exclusive: ["glob", "regex"] }),
    ...matcherFields
  }).annotate({
    [LimitsKey]: {
      expected: { _tag: "ExactlyOneOf", fields: ["exact", "glob"], last: "regex" },
      oneOf: ["exact", "glob", "regex"]
    }
  })

export const SourceMatcher = sourceMatcher(exactText)
